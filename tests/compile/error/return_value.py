# error: 4:5: a kernel returns nothing; write the result to a buffer
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = s
    return s
