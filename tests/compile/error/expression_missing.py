# error: 3:11: expected an expression, found end of the line
def k(i: Index, a: Array[f32]):
    a[i] =
