# error: 4:16: expected a type such as f32 or vec2 here
@kp.kernel(local_size=64)
def k(i: Index, a: Array[f32]):
    m = shared(Array[f32], 4)
