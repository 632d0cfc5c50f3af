# error: 3:9: shared memory needs to know the size of a workgroup; write @kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    m = shared(f32, 4)
