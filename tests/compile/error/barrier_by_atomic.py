# error: 5:9: all invocations of a workgroup must reach a barrier, but the condition of line 4 is not the same for all
@kp.kernel(local_size=64)
def k(i: Index, a: Array[i32]):
    if atomic_add(a, 0, 1) == 0:
        barrier()
