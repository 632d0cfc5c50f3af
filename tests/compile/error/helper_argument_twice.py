# error: 7:24: scale gets 'x' twice
def scale(x, factor):
    return x * factor


def k(i: Index, x: Array[f32]):
    x[i] = scale(x[i], x=2)
