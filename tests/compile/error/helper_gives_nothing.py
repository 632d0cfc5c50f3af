# error: 7:12: put returns nothing; it has no return with a value
def put(n, i):
    n[i] = 1


def k(i: Index, n: Array[i32]):
    n[i] = put(n, i)
