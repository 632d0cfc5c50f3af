# error: 4:5: a component is assigned twice in '.xx'
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = v[i]
    t.xx = vec2(s, s)
    v[i] = t
