# error: 3:22: expected the end of the statement, found 'a'; a conversion is a call, as in f32(x)
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[i] = (float) a[i]
