# error: 4:9: 'n' is i32, because line 3 gives it an integer, but this is f32; write n = 0.0 or the like there, or i32(n / 2) here
def k(i: Index, a: Array[f32], out: Array[f32]):
    n = 7
    n = n / 2
    out[i] = f32(n)
