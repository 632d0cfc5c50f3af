# error: 3:21: vectors are compared two at a time
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    b[i] = 1 if all(0.0 < v[i] < 1.0) else 0
