# error: 4:12: there is no 'sacle' here; did you mean 'scale'?
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    scale = s
    a[i] = sacle
