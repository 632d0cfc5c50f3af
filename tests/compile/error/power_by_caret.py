# error: 3:14: '^' takes integers or bools, but these are f32 and an integer literal; a power is written **
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[i] = a[i] ^ 2
