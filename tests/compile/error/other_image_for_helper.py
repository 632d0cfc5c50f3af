# error: 6:14: 'a' of f is Image2D[f32], but this is Image2D[vec4]
def f(a: Image2D[f32], i):
    return a[i]

def k(i: Index2, a: Image2D[vec4], x: Array[f32]):
    x[0] = f(a, i)
