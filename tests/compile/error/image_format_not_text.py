# error: 2:36: the format of an image is a text, as in Image2D[vec4, "rgba8"]
def k(at: Index2, a: Image2D[vec4, rgba8]):
    pass
