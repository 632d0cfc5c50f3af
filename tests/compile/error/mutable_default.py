# error: 2:34: the default value of 't' is not a constant
def k(i: Index, a: Array[f32], t=[1, 2]):
    a[i] = t[0]
