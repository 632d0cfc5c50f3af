# error: 3:10: 'is' is not in the kernel language; compare with '=='
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    if n is 3:
        a[i] = s
