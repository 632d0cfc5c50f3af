# error: 3:13: 'a[at]' is vec4, but this is f32
def k(at: Index2, a: Image2D[vec4]):
    a[at] = 1.0
