# error: 3:12: 'a[i]' is f32, but this is f64; write f32(f64(s))
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    a[i] = f64(s)
