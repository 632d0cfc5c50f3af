# error: 3:14: range takes one to three arguments, not 4
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    for j in range(1, 2, 3, 4):
        a[i] = 1.0
