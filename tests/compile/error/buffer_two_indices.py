# error: 3:7: 'b' is Array[i32] and has one axis, but these are 2 indices; declare it as Array[i32, 2]
def k(i: Index, a: Array[f32, 2], b: Array[i32], n: i32):
    b[i, n] = 1
