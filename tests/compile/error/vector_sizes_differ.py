# error: 4:12: '+' takes two values of one type, but these are vec2 and vec3
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = vec2(s, s)
    v[i] = t + v[i]
