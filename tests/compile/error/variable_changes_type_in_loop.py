# error: 5:14: 't' is i32, because line 3 gives it an integer, but this is f32; write t = 0.0 or the like there, or i32(a[j]) here
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = 0
    for j in range(3):
        t += a[j]
    a[i] = 1.0
