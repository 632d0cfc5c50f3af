# error: 3:12: 1e+39 is too large for f32
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = 1e39
