# error: 4:12: '*' takes two values of one type, but these are i32 and f32; write f32(t)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = 3
    a[i] = t * s
