# error: 3:15: a list is repeated by an integer constant, since arrays have a fixed length
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p = [0] * n
    b[i] = p[0]
