# error: 4:12: 't.xy' is vec2, but this is vec3
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = v[i]
    t.xy = t
    v[i] = t
