# error: 2:38: a texture takes images of any format; leave out "rgba8"
def k(at: Index2, a: Texture2D[vec4, "rgba8"]):
    pass
