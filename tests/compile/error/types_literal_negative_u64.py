# error: 3:19: -1 does not fit in u64, which holds 0 to 18446744073709551615
def k(i: Index, a: Array[u64]):
    a[i] = a[i] + -1
