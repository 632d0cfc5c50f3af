# error: 3:7: 'a' has 2 axes, but these are 3 indices; write a[i, j]
def k(i: Index, a: Array[f32, 2], b: Array[i32], n: i32):
    a[i, n, 0] = 0.0
