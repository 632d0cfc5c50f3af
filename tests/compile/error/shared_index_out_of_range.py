# error: 5:7: index 4 is out of range: 'm' has 4 elements
@kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    m = shared(f32, 4)
    m[4] = 1.0
