# error: 7:12: scale takes 2 arguments, not 1; it is defined in line 2
def scale(x, factor):
    return x * factor


def k(i: Index, x: Array[f32]):
    x[i] = scale(x[i])
