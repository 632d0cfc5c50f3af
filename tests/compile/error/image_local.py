# error: 3:8: Image2D[f32] is for a parameter only
def k(at: Index2, a: Image2D[f32]):
    b: Image2D[f32] = a
