# error: 5:9: all invocations of a workgroup must reach a barrier, but some have left at the return of line 7
@kp.kernel(local_size=64)
def k(t: LocalIndex, a: Array[f32]):
    for j in range(4):
        barrier()
        if t == 1:
            return
