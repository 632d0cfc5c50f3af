# error: 4:8: an array cannot be compared; index it, as in p[i]
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p = [1, 2]
    if p == p:
        b[i] = 1
