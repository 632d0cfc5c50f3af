# error: 8:7: 'a' of f is an array of the caller, and cannot be another one; use another name for that
def f(a):
    a = [1, 2]
    a[0] = 3


def k(i: Index, x: Array[i32]):
    f([x[i], 2])
