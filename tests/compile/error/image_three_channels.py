# error: 2:30: an image has 1, 2 or 4 channels, not 3; write vec4
def k(at: Index2, a: Image2D[vec3]):
    pass
