# error: 4:12: shared memory has a name of its own; assign it to one, as in tile = shared(f32, 256)
@kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    a[i] = shared(f32, 4)[i]
