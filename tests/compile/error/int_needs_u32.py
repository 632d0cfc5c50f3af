# error: 3:9: 4294967295 does not fit in i32, which holds -2147483648 to 2147483647; a u32 holds it
def k(i: Index, a: Array[f32], out: Array[f32]):
    n = 0xFFFFFFFF
    out[i] = f32(n & 1)
