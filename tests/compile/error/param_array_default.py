# error: 2:33: only a number has a default value, but 'x' is Array[f32]
def k(i: Index, x: Array[f32] = 1.0):
    pass
