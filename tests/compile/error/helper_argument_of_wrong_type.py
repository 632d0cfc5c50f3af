# error: 7:18: 'x' of scale is f32, but this is i32; write f32(i)
def scale(x: f32):
    return x * 2


def k(i: Index, x: Array[f32]):
    x[i] = scale(i)
