# error: 3:20: a tuple is not a value of the kernel language
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    x, (y, z) = 1, (2, 3)
    b[i] = x
