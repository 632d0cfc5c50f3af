# error: 3:10: 'not in' is not in the kernel language; compare with '!=' and 'and'
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    if n not in (1, 2):
        x[i] = 1
