# error: 2:46: the default value of 'mode' is a number, as in mode: i32 = 1
def k(i: Index, out: Array[f32], mode: i32 = "fast"):
    out[i] = f32(mode)
