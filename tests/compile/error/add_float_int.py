# error: 3:12: '+' takes two values of one type, but these are f32 and i32; write f32(n)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = a[i] + n
