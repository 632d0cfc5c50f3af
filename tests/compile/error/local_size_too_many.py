# error: 2:23: a local size of 1048576 invocations is more than any device has
@kp.kernel(local_size=(1024, 1024))
def k(i: Index, a: Array[f32]):
    a[i] = 1.0
