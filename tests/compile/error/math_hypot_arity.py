# error: 3:12: hypot takes at least 1 argument, not 0
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = hypot()
