# error: 7:24: scale has no parameter 'factr'; did you mean 'factor'?
def scale(x, factor):
    return x * factor


def k(i: Index, x: Array[f32]):
    x[i] = scale(x[i], factr=2)
