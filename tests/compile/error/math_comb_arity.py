# error: 3:12: comb takes 2 arguments, not 1
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    b[i] = comb(n)
