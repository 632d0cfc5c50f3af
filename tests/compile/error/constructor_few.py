# error: 3:12: vec3 has 3 components, but these are 2
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    v[i] = vec3(s, s)
