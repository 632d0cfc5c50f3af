# error: 3:8: '<' takes two values of one type, but these are u32 and i32; write u32(n)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    if u[i] < n:
        a[i] = 1.0
