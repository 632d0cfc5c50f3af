# error: 3:12: 2 names, but one value of type f32
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    x, y = s
    a[i] = x
