# error: 4:14: index 3 is out of range: Array(3, i32) has 3 elements
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p = [1, 2, 3]
    b[i] = p[3]
