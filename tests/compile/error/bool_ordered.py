# error: 3:8: '<' takes numbers, but these are bools
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    if (n > 2) < (n > 3):
        b[i] = 1
