# error: 3:14: 't' is i32 since line 3, but this is f32; write i32(1.5)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t: i32 = 1.5
    b[i] = t
