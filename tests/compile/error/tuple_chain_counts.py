# error: 3:22: 3 names, but 2 values
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    x, y = p, q, r = 1, 2
