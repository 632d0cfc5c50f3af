# error: 3:12: f cannot return a value of type Array(2, i32); index it here (in f(Array(2, i32)), called in line 8)
def f(a):
    return a


def k(i: Index, x: Array[i32]):
    a = [1, x[i]]
    b = f(a)
