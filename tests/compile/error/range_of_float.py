# error: 3:20: range takes integers, but this is f32; write i32(s), or work the number out from an integer
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    for j in range(s):
        a[i] = 1.0
