# error: 3:12: 'a[i]' is f32, but this is vec3
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = v[i]
