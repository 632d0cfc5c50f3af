# error: 2:22: Image2D needs the type of its pixels, as in Image2D[f32]
def k(at: Index2, a: Image2D):
    a[at] = 1.0
