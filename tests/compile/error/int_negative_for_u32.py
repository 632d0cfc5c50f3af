# error: 3:12: -1 does not fit in u32, which holds 0 to 4294967295
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    u[i] = -1
