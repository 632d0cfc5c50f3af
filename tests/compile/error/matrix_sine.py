# error: 3:16: sin takes floats, but this is mat3
def k(i: Index, a: Array[mat3]):
    a[i] = sin(a[i])
