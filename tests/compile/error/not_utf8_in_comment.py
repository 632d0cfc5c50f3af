# error: 3:19: the source is not UTF-8 here
def k(i: Index, a: Array[f32]):
    a[i] = 1.0  # été
