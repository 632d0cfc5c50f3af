# error: 3:12: a.read takes 1 argument, not 2
def k(i: Index2, a: Image2D[f32], x: Array[f32]):
    x[0] = a.read(i, 1)
