# error: 3:10: 's' is f32, but this is vec3
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    s += v[i]
    a[i] = s
