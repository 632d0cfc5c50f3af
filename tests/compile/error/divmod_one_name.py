# error: 3:12: divmod gives two values; assign them to two names, as in a, b = divmod(...)
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    b[i] = divmod(n, 3)
