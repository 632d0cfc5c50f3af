# error: 2:36: a pixel of the format rgba8ui is a uvec4, not a vec4
def k(at: Index2, a: Image2D[vec4, "rgba8ui"]):
    pass
