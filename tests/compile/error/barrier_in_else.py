# error: 9:9: all invocations of a workgroup must reach a barrier, but the condition of line 4 is not the same for all
@kp.kernel(local_size=64)
def k(t: LocalIndex, g: GroupIndex, a: Array[f32]):
    if t + 1 > g:
        a[0] = 1.0
    elif t == 0:
        a[1] = 1.0
    else:
        barrier()
