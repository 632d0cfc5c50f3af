# error: 3:9: 'n' is i32 since line 2, but this is f32; write i32(0.9)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    n = 0.9
    a[i] = f32(n)
