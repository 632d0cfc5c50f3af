# error: 9:18: 'a' of total cannot be an array in a struct; pass a copy, made before the call: a = p[i].x.copy()
class P(Struct):
    x: Array(3, f32)

def total(a):
    return a[0] + a[1] + a[2]

def k(i: Index, p: Array[P], y: Array[f32]):
    y[i] = total(p[i].x)
