# error: 3:24: p is Array(3, f32), but this is Array(4, a float literal)
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p: Array(3, f32) = [0.0] * 4
    a[i] = p[0]
