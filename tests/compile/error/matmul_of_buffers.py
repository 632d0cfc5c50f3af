# error: 3:14: '@' takes two vectors of one type, but these are Array[f32] and Array[f32]
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[i] = a @ a
