# error: 3:17: expected an expression, found end of the line
def k(i: Index, a: Array[f32]):
    a[i] = 1.0 +
