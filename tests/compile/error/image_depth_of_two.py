# error: 3:12: 'a' is Image2D[f32] and has no 'depth'; it has size, read, write
def k(at: Index2, a: Image2D[f32], x: Array[i32]):
    x[0] = a.depth
