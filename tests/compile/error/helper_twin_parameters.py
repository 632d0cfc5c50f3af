# error: 2:14: there are two parameters 'x'
def scale(x, x):
    return x


def k(i: Index, n: Array[i32]):
    n[i] = scale(i, i)
