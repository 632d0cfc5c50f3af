# error: 7:9: all invocations of a workgroup must reach a barrier, but some have gone on at the continue of line 6
@kp.kernel(local_size=64)
def k(t: LocalIndex, a: Array[f32]):
    for j in range(10):
        if j == t:
            continue
        barrier()
