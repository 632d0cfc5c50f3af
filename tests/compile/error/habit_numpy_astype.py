# error: 3:12: methods are not in the kernel language; convert a number, as in f32(x)
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    a[i] = x[i].astype(i32)
