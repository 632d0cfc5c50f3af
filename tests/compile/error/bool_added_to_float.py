# error: 3:5: '+' takes numbers, but this is bool; write f32(a[i] > 0)
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[i] += a[i] > 0
