# error: 3:12: -2147483649 does not fit in i32, which holds -2147483648 to 2147483647; an i64 holds it
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    b[i] = -2147483649
