# error: 3:12: 100000 is too large for f16
def k(i: Index, a: Array[f16]):
    a[i] = 1e5
