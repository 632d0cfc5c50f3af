# error: 3:14: 'out[i]' is f32, but this is i32; write f32(i32(a[i]))
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[i] = i32(a[i])
