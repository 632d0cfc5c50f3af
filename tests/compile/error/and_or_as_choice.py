# error: 3:9: 'and' takes two values of one type, but these are bool and a float literal; write x if c else y
def k(i: Index, a: Array[f32], out: Array[f32]):
    x = a[i] > 0 and 1.0 or 0.0
    out[i] = x
