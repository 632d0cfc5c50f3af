# error: 3:10: an index is an integer, but this is a float literal; write i32(0.5)
def k(i: Index, a: Array[f32, 2], b: Array[i32], n: i32):
    a[i, 0.5] = 1.0
