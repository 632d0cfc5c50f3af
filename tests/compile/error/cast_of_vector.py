# error: 3:12: a vec3 cannot become an f32
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = f32(v[i])
