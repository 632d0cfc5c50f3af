# error: 3:8: Array[f32] is for a parameter only; an array in a variable has a length, as in Array(16, f32)
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p: Array[f32] = [1.0, 2.0]
    a[i] = p[0]
