# error: 3:14: an index is an integer, but this is vec3
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = a[v[i]]
