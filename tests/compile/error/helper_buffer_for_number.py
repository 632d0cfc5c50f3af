# error: 7:18: 'x' of scale is f32, but this is Array[f32]
def scale(x: f32):
    return x * 2


def k(i: Index, x: Array[f32]):
    x[i] = scale(x)
