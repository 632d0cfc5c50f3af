# error: 3:17: read takes an image, but this is Array[f32]
def k(i: Index2, x: Array[f32]):
    x[0] = read(x, i)
