# error: 3:12: methods are not in the kernel language; write a loop, or add with atomic_add
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    a[i] = v.sum()
