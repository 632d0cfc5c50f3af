# error: 3:12: 'a' is Image2D[f32] and has no 'mean'; it has size, read, write
def k(at: Index2, a: Image2D[f32], x: Array[f32]):
    x[0] = a.mean()
