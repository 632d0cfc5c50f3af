# error: 2:36: there is no format 'bc7'; there are r32f, rgba8, r16ui and others like these
def k(at: Index2, a: Image2D[vec4, "bc7"]):
    pass
