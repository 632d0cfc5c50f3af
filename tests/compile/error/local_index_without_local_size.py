# error: 2:10: LocalIndex needs to know the size of a workgroup; write @kp.kernel(local_size=64)
def k(t: LocalIndex, a: Array[f32]):
    a[t] = 0.0
