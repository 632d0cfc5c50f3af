# error: 3:26: clamp takes no names for its arguments
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = clamp(s, 0.0, high=1.0)
