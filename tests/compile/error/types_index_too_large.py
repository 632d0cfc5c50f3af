# error: 3:7: a constant index is at most 2147483647
def k(i: Index, a: Array[f32]):
    a[u64(5000000000)] = 1.0
