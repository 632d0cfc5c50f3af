# error: 2:24: a local size is between 1 and 65536, not 0
@kp.kernel(local_size=(0, 16))
def k(i: Index, a: Array[f32]):
    a[i] = 1.0
