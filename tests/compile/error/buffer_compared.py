# error: 3:8: a buffer cannot be compared; index it, as in a[i]
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    if a == b:
        a[i] = 1.0
