# error: 3:9: an array of 100000 elements is too large for a variable; the limits are 16384 elements and 65536 bytes
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p = [0.0] * 100000
    a[i] = p[i]
