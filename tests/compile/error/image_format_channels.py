# error: 2:35: a pixel of the format rgba8 is a vec4, not an f32
def k(at: Index2, a: Image2D[f32, "rgba8"]):
    pass
