# error: 3:12: frexp gives two values; assign them to two names, as in a, b = frexp(...)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = frexp(s)
