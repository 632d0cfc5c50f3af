# error: 4:21: the length of shared memory is between 1 and 16777216, not 0
@kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    m = shared(f32, 0)
