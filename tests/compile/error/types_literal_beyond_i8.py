# error: 3:12: -129 does not fit in i8, which holds -128 to 127
def k(i: Index, a: Array[i8]):
    a[i] = -129
