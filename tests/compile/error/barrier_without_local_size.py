# error: 3:5: barrier needs to know the size of a workgroup; write @kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    barrier()
    a[i] = 0.0
