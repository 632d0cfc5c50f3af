# error: 3:17: 2 names, but one value of type i32
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    (x, y), z = n, 4
