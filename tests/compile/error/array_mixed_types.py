# error: 3:13: the elements of a list have one type, but these are i32 and f32
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p = [n, s]
    b[i] = n
