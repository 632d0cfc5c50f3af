# error: 4:12: barrier() gives no value; it stands on a line of its own
@kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    a[i] = barrier()
