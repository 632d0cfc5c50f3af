# error: 3:8: '<' takes two values of one type, but these are i32 and f32; write f32(n)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    if n < s:
        a[i] = 1.0
