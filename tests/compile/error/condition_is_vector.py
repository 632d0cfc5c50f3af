# error: 3:8: a condition is a bool or a number, but this is vec3
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    if v[i]:
        a[i] = 1.0
