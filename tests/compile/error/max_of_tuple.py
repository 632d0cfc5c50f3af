# error: 3:16: max takes its values one by one, as in max(a, b)
def k(i: Index, x: Array[i32]):
    x[i] = max((x[i], 3))
