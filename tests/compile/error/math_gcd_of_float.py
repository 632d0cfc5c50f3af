# error: 3:24: gcd takes integers, but this is f32
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = math.gcd(n, s)
