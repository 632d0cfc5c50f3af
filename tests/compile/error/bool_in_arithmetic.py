# error: 3:12: '+' takes numbers, but this is bool; write i32(n > 2)
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    b[i] = n + (n > 2)
