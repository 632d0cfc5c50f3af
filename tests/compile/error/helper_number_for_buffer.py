# error: 7:18: 'x' of first is Array[f32], but this is f32
def first(x: Array[f32]):
    return x[0]


def k(i: Index, x: Array[f32]):
    x[i] = first(x[i])
