# error: 3:12: f cannot return a value of type Image2D[f32]; index it here (in f(Image2D[f32]), called in line 6)
def f(a):
    return a

def k(i: Index2, a: Image2D[f32], x: Array[f32]):
    x[0] = f(a)[i]
