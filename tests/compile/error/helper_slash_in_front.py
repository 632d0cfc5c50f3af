# error: 2:7: '/' stands once, behind parameters and in front of '*'
def f(/, x):
    return x


def k(i: Index, a: Array[i32]):
    a[i] = f(a[i])
