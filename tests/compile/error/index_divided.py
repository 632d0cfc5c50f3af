# error: 3:16: an index is an integer, but '/' gives f32; write i // 2
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[i] = a[i / 2]
