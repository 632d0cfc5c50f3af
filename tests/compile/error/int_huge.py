# error: 3:12: this integer is too large; the limit is 2**64 - 1
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    b[i] = 99999999999999999999
