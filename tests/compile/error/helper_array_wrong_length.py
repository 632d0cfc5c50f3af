# error: 8:7: 'a' of f is Array(3, i32), but this is Array(2, i32)
def f(a: Array(3, i32)):
    a[0] = 3


def k(i: Index, x: Array[i32]):
    a = [1, x[i]]
    f(a)
