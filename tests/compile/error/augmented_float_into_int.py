# error: 4:10: 't' is i32, because line 3 gives it an integer, but this is f32; write t = 0.0 or the like there, or i32(0.5) here
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    t = 1
    t += 0.5
    b[i] = t
