# error: 3:9: 'i' is one number and has no 'x'; i: Index2 has x and y
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[i.x] = 1.0
