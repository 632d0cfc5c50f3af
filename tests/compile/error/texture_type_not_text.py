# error: 2:36: the type of a texture is a text with its axes and its format or type, as in "2d rgba8" or "2d f32"
def k(i: Index2, t: ("texture", 0, f32)):
    pass
