# error: 3:8: Image2D[f32] cannot be compared
def k(at: Index2, a: Image2D[f32], x: Array[f32]):
    if a == a:
        x[0] = 1.0
