# error: 4:14: an index is an integer, but this is f32; write i32(s)
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p = [1, 2, 3]
    b[i] = p[s]
