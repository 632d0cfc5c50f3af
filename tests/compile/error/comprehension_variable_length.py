# error: 3:27: the range of a comprehension, which fixes its length, is an integer constant
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p = [k for k in range(n)]
    b[i] = p[0]
