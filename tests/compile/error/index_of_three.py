# error: 3:14: 'a' is Array[f32] and has one axis, but these are 2 indices; declare it as Array[f32, 2]
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    a[i] = a[i, n]
