# error: 4:12: cross takes two vec3, but these are vec2
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = v[i].xy
    v[i] = cross(t, t)
