# error: 8:9: all invocations of a workgroup must reach a barrier, but the condition of line 7 is not the same for all
@kp.kernel(local_size=64)
def k(t: LocalIndex, a: Array[f32]):
    n = 0
    if t == 0:
        n = 1
    if n == 0:
        barrier()
