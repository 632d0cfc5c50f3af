# error: 3:5: 'import' is not in the kernel language; import outside of the kernel
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    from math import exp
    a[i] = s
