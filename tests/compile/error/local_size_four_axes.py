# error: 2:23: local_size has one to three numbers, as in local_size=(16, 16)
@kp.kernel(local_size=(2, 2, 2, 2))
def k(i: Index, a: Array[f32]):
    a[i] = 1.0
