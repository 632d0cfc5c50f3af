# error: 3:17: the amount of a shift is not negative
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    b[i] = n >> -1
