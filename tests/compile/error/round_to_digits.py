# error: 3:14: round takes 1 argument, not 2
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[i] = round(a[i], 2)
