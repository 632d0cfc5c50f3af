# error: 3:7: a pixel of 'a' is a[x, y], but these are 3 numbers
def k(at: Index3, a: Image2D[f32]):
    a[at.x, at.y, at.z] = 1.0
