# error: 2:20: kernels do not support f64 yet; they have f32, i32, u32 and bool
def k(i: Index, x: f64, a: Array[f32]):
    a[i] = 1.0
