# error: 3:20: axis 2 is out of range: 'a' has 2
def k(i: Index, a: Array[f32, 2], b: Array[i32], n: i32):
    b[i] = a.shape[2]
