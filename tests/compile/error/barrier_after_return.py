# error: 6:5: all invocations of a workgroup must reach a barrier, but some have left at the return of line 5
@kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    if i >= len(a):
        return
    barrier()
    a[i] = 0.0
