# error: 3:17: sqrt takes values, but 'a' is a buffer; index it, as in a[i]
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    a[i] = sqrt(a)
