# error: 3:9: copy is for arrays and structs, but 's' is an f32
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    t = s.copy()
    a[i] = t
