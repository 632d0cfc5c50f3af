# error: 2:31: the number of axes is between 1 and 3, not 4
def k(i: Index, a: Array[f32, 4]):
    a[0, 0, 0, 0] = 1.0
