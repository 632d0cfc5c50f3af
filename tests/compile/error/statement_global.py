# error: 3:5: 'global' is not in the kernel language; a kernel reads names from outside as constants, and writes to buffers
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    global t
    a[i] = s
