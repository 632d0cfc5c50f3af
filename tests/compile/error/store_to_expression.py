# error: 3:5: this cannot be assigned to
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    n + 1 = 2
