def local_array(i: Index, x: Array[f32], out: Array[f32]):
    a = [0.0] * 4
    for k in range(4):
        a[k] = x[k]
    out[i] = a[i]
