# error: 3:9: '+' takes numbers, but '[1.0]' is an array; index it, as in [1.0][i]
def k(i: Index, a: Array[f32], out: Array[f32]):
    t = [1.0] + [2.0]
    out[i] = t[0]
