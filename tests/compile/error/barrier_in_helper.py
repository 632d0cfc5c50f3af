# error: 3:5: all invocations of a workgroup must reach a barrier, but the condition of line 7 is not the same for all
def wait(n):
    barrier()

@kp.kernel(local_size=64)
def k(t: LocalIndex, a: Array[f32]):
    if t < 10:
        wait(1)
