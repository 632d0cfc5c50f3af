# error: 5:14: 'n' is i32, because line 3 gives it an integer, but this is f32; write n = 0.0 or the like there, or i32(a[j]) here
def k(i: Index, a: Array[f32], out: Array[f32]):
    n = 0
    for j in range(4):
        n += a[j]
    out[i] = n
