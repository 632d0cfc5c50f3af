# error: 3:30: a comprehension of a kernel has one 'for' and no 'if'; its length is fixed
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p = [k for k in range(9) if k > 3]
    b[i] = p[0]
