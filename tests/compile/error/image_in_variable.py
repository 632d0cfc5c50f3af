# error: 3:9: 'a' is an Image2D[f32] and cannot be in a variable; read a pixel of it here
def k(at: Index2, a: Image2D[f32]):
    b = a
