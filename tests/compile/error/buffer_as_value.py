# error: 3:9: 'a' is a buffer and cannot be in a variable; index it here
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = a
    a[i] = s
