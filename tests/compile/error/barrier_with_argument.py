# error: 4:5: barrier takes 0 arguments, not 1
@kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    barrier(1)
