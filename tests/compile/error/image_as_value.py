# error: 3:12: 'x[0]' is f32, but this is Image2D[f32]
def k(at: Index2, a: Image2D[f32], x: Array[f32]):
    x[0] = a
