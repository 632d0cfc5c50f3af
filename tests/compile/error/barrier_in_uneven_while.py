# error: 7:9: all invocations of a workgroup must reach a barrier, but the condition of line 5 is not the same for all
@kp.kernel(local_size=64)
def k(t: LocalIndex, a: Array[f32]):
    n = t
    while n > 0:
        n -= 1
        barrier()
