# error: 3:14: a loop of a kernel goes over range(...) or an array, but this is Image2D[f32]
def k(at: Index2, a: Image2D[f32], x: Array[f32]):
    for p in a:
        x[0] = p
