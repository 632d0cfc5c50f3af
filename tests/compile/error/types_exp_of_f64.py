# error: 3:12: devices have no exp of f64; compute it in f32, as in f64(exp(f32(a[i])))
def k(i: Index, a: Array[f64]):
    a[i] = exp(a[i])
