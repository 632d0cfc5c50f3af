# error: 3:12: 2 names, but the 3 components of a vec3
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    x, y = v[i]
    a[i] = x
