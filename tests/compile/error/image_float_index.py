# error: 3:7: a pixel of 'a' is a[x, y], or has an ivec2, but this is vec2
def k(at: Index2, a: Image2D[f32]):
    a[vec2(at)] = 1.0
