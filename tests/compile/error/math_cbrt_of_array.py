# error: 3:22: cbrt takes values, but 'a' is a buffer; index it, as in a[i]
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = math.cbrt(a)
