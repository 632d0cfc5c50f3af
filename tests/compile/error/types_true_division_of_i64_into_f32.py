# error: 3:12: 'x[i]' is f32, but this is f64; write f32(a[i] / 3)
def k(i: Index, a: Array[i64], x: Array[f32]):
    x[i] = a[i] / 3
