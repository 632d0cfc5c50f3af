# error: 7:15: 3 names, but 2 values
def both(i):
    return i, i + 1


def k(i: Index, n: Array[i32]):
    a, b, c = both(i)
