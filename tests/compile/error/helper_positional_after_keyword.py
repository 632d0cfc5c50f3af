# error: 7:26: an argument without a name follows one with a name
def scale(x, factor):
    return x * factor


def k(i: Index, x: Array[f32]):
    x[i] = scale(x=x[i], 2)
