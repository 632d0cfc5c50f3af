# error: 3:17: 2 names, but 3 values
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    (x, y), z = (1, 2, 3), 4
