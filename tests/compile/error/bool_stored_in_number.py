# error: 3:12: 'b[i]' is i32, but this is bool; write i32(n > 3)
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    b[i] = n > 3
