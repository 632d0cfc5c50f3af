# error: 4:9: '*' takes two values of one type, but these are i32 and a float literal; write f32(n)
def k(i: Index, a: Array[f32], out: Array[f32]):
    n = 1
    n = n * 0.5
    out[i] = n
