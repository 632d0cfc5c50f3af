# error: 3:12: kernels do not support f64 yet; they have f32, i32, u32 and bool
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    a[i] = f64(s)
