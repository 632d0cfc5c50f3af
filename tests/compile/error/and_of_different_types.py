# error: 3:12: 'and' takes two values of one type, but these are i32 and f32; write f32(n)
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    a[i] = n and s
