# error: 3:12: '@' takes two vectors of one type, but these are vec3 and vec2
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    a[i] = v[i] @ v[i].xy
