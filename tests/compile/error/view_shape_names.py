# error: 3:15: 3 names, but 'a' has 2 axes
def k(i: Index, a: Array[f32, 2], b: Array[i32], n: i32):
    r, c, d = a.shape
    b[i] = r
