# error: 3:12: 'a[i]' is f32, but this is f64; write f32(x * 2.0)
def k(i: Index, a: Array[f32], x: f64):
    a[i] = x * 2.0
