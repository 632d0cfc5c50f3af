# error: 5:7: 'm' has 2 axes, but this is an index on 1
@kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    m = shared(f32, (4, 4))
    m[i] = 1.0
