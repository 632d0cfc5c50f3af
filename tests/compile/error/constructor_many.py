# error: 3:9: vec2 has 2 components, but these are 3
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = vec2(s, s, s)
    a[i] = t.x
