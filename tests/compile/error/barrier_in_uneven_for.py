# error: 5:9: all invocations of a workgroup must reach a barrier, but the loop of line 4 has not as many rounds for all
@kp.kernel(local_size=64)
def k(t: LocalIndex, a: Array[f32]):
    for j in range(t):
        barrier()
