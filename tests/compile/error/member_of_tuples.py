# error: 3:14: 'in' looks for a number, but this is a tuple
def k(i: Index, n: i32, a: Array[i32]):
    if n in ((1, 2), (3, 4)):
        a[i] = 1
