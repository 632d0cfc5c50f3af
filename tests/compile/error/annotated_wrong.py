# error: 3:15: 't' is vec2, but this is vec3
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t: vec2 = v[i]
    a[i] = t.x
