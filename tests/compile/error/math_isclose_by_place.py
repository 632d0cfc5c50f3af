# error: 3:30: isclose takes two numbers, and rel_tol= and abs_tol= by name
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    b[i] = i32(isclose(s, s, 0.1))
