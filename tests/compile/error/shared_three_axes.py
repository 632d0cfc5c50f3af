# error: 4:21: shared memory has one or two axes, not 3
@kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    m = shared(f32, (2, 2, 2))
