# error: 3:5: 'X' is defined by itself
X = Y
Y = X


def k(i: Index, a: Array[f32]):
    a[i] = X
