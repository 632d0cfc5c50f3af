# error: 3:12: this constant is larger than 64 bits hold
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    b[i] = 1 << 70
