# error: 3:16: min takes its values one by one, as in min(a, b)
def k(i: Index, x: Array[i32]):
    x[i] = min([x[i], 3])
