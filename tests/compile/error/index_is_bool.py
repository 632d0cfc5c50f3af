# error: 3:9: an index is an integer, but this is bool
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[a[i] > 0] = 1.0
