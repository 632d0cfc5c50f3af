# error: 5:5: 'm' is something else already; shared memory has a name of its own
@kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    m = 1
    m = shared(f32, 4)
