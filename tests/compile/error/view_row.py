# error: 3:16: 'a' has 2 axes, but this is 1 index; write a[i, j]
def k(i: Index, a: Array[f32, 2], b: Array[i32], n: i32):
    for x in a[0]:
        b[i] = 1
