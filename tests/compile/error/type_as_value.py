# error: 3:12: 'i32' is a type; convert to it, as in i32(x)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    b[i] = i32
