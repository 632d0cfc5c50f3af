# error: 3:17: index 3 is out of range: vec3 has 3 elements
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = v[i][3]
