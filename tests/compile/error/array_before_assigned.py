# error: 4:12: 'p' is used here before it is assigned
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p: Array(4, i32)
    b[i] = p[0]
