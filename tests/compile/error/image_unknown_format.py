# error: 2:36: there is no format 'rgba9'; did you mean 'rgba8'?
def k(at: Index2, a: Image2D[vec4, "rgba9"]):
    pass
