# error: 3:12: methods are not in the kernel language
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    a[i] = v.sum()
