# error: 4:12: 'p[0]' is i32, but this is f32; write i32(s)
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p = [1, 2]
    p[0] = s
