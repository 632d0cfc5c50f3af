# error: 4:8: 't' is f32 since line 3, and cannot be i32 too
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t: f32 = 1
    t: i32 = 2
    a[i] = 1.0
