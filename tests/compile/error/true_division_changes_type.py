# error: 4:5: '/' gives a float, but 't' is i32; write '//=' to divide integers
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = n
    t /= 2
    b[i] = t
