# error: 3:12: clamp takes 3 arguments, not 2
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = clamp(s, 0.0)
