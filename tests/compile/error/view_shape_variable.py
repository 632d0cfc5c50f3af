# error: 3:20: the axis of a shape is an integer constant
def k(i: Index, a: Array[f32, 2], b: Array[i32], n: i32):
    b[i] = a.shape[n]
