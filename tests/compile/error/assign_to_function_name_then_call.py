# error: 4:12: 'sqrt' is not a function
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    sqrt = s
    a[i] = sqrt(s)
