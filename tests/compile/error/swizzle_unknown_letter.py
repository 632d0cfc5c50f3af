# error: 3:17: vec3 has no 'q'; a vector has the components xyzw, or rgba
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = v[i].q
