# error: 3:11: print takes numbers, vectors and texts, but this is Array[f32]
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    print(a)
