# error: 3:5: 't' is used here before it is assigned
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t += 1
    b[i] = t
