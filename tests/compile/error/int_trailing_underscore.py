# error: 3:12: '_' in a number stands between two digits
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    b[i] = 1_
