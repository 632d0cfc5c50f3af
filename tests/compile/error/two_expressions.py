# error: 3:16: expected the end of the statement, found '2.0'
def k(i: Index, a: Array[f32]):
    a[i] = 1.0 2.0
