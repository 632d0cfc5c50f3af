# error: 4:12: 2 names, but the 3 elements of Array(3, i32)
def k(i: Index, x: Array[i32]):
    a = [1, 2, i]
    b, c = a
    x[i] = b + c
