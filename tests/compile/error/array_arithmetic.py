# error: 4:12: '+' takes numbers, but 'p' is an array; index it, as in p[i]
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p = [1.0, 2.0]
    a[i] = p + 1.0
