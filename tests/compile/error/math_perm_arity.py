# error: 3:12: perm takes 1 to 2 arguments, not 3
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    b[i] = perm(n, 1, 2)
