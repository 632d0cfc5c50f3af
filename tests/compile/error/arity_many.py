# error: 3:12: sqrt takes 1 argument, not 2
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = sqrt(s, s)
