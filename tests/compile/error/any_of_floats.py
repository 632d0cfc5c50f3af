# error: 3:21: any takes a vector of bools, but this is vec3
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    b[i] = 1 if any(v[i]) else 0
