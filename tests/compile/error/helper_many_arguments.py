# error: 7:12: scale takes 1 to 2 arguments, not 3; it is defined in line 2
def scale(x, factor=2):
    return x * factor


def k(i: Index, x: Array[f32]):
    x[i] = scale(x[i], 1, 2)
