# error: 4:9: all invocations of a workgroup must reach a barrier, but the condition of line 3 is not the same for all
def wait(n):
    if n > 0:
        barrier()

@kp.kernel(local_size=64)
def k(t: LocalIndex, n: i32, a: Array[f32]):
    wait(n)
    wait(t)
