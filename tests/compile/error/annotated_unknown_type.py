# error: 3:8: there is no type 'vec5'; did you mean vec2?
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t: vec5 = s
    a[i] = s
