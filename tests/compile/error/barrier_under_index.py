# error: 5:9: all invocations of a workgroup must reach a barrier, but the condition of line 4 is not the same for all
@kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    if i < 10:
        barrier()
