# error: 4:12: '-' takes numbers, but this is bool; write i32(t)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = s > 0.0
    a[i] = -t
