# error: 5:13: shared memory belongs to the whole kernel; make it outside of branches and loops
@kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    for j in range(2):
        m = shared(f32, 4)
