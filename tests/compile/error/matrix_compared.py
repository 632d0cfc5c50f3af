# error: 3:8: matrices are compared row by row, as in all(a[i][0] == ...)
def k(i: Index, a: Array[mat2]):
    if a[i] == a[0]:
        a[i] *= 2
