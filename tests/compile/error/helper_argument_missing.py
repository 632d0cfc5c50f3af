# error: 7:12: scale needs a value for 'factor'
def scale(x, factor, offset):
    return x * factor + offset


def k(i: Index, x: Array[f32]):
    x[i] = scale(x[i], offset=2)
