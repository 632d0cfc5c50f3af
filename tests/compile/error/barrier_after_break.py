# error: 5:9: all invocations of a workgroup must reach a barrier, but some have left the loop at the break of line 7
@kp.kernel(local_size=64)
def k(t: LocalIndex, a: Array[f32]):
    for j in range(10):
        barrier()
        if j == t:
            break
