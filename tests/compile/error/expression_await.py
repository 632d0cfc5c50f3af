# error: 3:12: 'await' is not in the kernel language; a kernel waits for nothing
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = await s
