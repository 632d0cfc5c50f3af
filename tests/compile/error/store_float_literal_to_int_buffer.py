# error: 3:12: 'b[i]' is i32, but this is f32; write i32(1.5)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    b[i] = 1.5
