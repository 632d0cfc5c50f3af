# error: 4:16: Array[f32] is for a parameter only; an array in a variable has a length, as in Array(16, f32)
@kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    m = shared(Array[f32], 4)
