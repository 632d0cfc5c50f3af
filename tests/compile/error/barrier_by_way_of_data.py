# error: 7:9: all invocations of a workgroup must reach a barrier, but the condition of line 6 is not the same for all
@kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    x = a[i]
    y = 2.0 * x
    if y > 1.0:
        barrier()
