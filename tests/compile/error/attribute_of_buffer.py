# error: 3:12: 'a' is a buffer and has no 'size'; write len(a)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    b[i] = a.size
