# error: 3:21: hypot takes no names for its arguments
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = hypot(s, y=s)
