# error: 3:12: an Image2D[f32] cannot become a vec2
def k(i: Index2, a: Image2D[f32], x: Array[vec2]):
    x[0] = vec2(a, a)
