# error: 3:7: 'a' has 2 axes, but this is 1 index; write a[i, j]
def k(i: Index, a: Array[f32, 2], b: Array[i32], n: i32):
    a[i] = 0.0
