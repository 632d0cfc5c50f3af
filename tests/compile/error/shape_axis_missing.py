# error: 3:26: axis 1 is out of range: 'a' has 1
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[i] = f32(a.shape[1])
