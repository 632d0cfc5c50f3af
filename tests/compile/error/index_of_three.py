# error: 3:14: kernels do not support indices on several axes yet
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    a[i] = a[i, n]
