# error: 3:9: 99999999999 does not fit in i32, which holds -2147483648 to 2147483647; an i64 holds it
def k(i: Index, a: Array[f32], out: Array[f32]):
    n = 99999999999
    out[i] = f32(n)
