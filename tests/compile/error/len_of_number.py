# error: 3:16: len takes an array or a vector, but this is i32
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    b[i] = len(n)
