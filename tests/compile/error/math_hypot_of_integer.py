# error: 3:26: hypot takes floats, but this is i32; write f32(n)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = math.hypot(s, n)
