# error: 4:14: there is no 'valeu' here; did you mean 'value'?
def k(i: Index, a: Array[f32], out: Array[f32]):
    value = a[i]
    out[i] = valeu
