# error: 3:9: 'lambda' is not in the kernel language; define a function outside of the kernel with def
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    f = lambda x: x
    a[i] = s
