# error: 3:12: 16777217 is not exact in f32; write f32(16777217)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = 16777217
