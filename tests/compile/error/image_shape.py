# error: 3:12: 'a' is an image: its size is a.size, (width, height), where a view has a shape, rows first
def k(at: Index2, a: Image2D[f32], x: Array[i32]):
    x[0] = a.shape[0]
