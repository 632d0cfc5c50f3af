# error: 3:12: gcd takes two values of one type, but these are i32 and u32; write i32(u[i])
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    b[i] = gcd(n, u[i])
