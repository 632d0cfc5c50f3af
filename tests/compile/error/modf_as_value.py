# error: 3:18: modf gives two values; assign them to two names, as in a, b = modf(...)
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    a[i] = 1.0 + modf(s)
