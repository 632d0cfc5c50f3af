# error: 2:27: Image2D[f32] is for a parameter only
def k(i: Index2, a: Array[Image2D[f32]]):
    pass
