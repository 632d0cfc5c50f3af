# error: 3:9: an empty list is not in the kernel language; an array has its length from the start
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p = []
    b[i] = n
