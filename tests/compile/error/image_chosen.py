# error: 3:9: 'a if x[0] > 0.0 else b' is an Image2D[f32] and cannot be in a variable; read a pixel of it here
def k(at: Index2, a: Image2D[f32], b: Image2D[f32], x: Array[f32]):
    c = a if x[0] > 0.0 else b
    x[0] = c[at]
