# error: 3:21: the exponent of ldexp is i32, but this is f32; write i32(s)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = ldexp(s, s)
