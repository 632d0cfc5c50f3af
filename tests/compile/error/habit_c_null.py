# error: 3:9: there is no 'NULL' here; there are no pointers in a kernel
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    t = NULL
