# error: 3:10: 'in' is not in the kernel language; compare with '==' and 'or'
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    if n in a:
        a[i] = s
