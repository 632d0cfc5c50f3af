# error: 3:5: 'yield' is not in the kernel language; a kernel returns nothing; it writes its results to buffers
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    yield s
