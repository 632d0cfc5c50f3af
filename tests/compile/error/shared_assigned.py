# error: 5:5: 'm' is shared memory; assign to an element, as in m[i] = ...
@kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    m = shared(f32, 4)
    m = 1.0
