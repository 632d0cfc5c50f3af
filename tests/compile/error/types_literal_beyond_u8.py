# error: 3:19: 256 does not fit in u8, which holds 0 to 255
def k(i: Index, a: Array[u8]):
    a[i] = a[i] + 256
