# error: 7:14: f takes 'x' by its place, not by name
def f(x, /, y):
    return x + y


def k(i: Index, a: Array[i32]):
    a[i] = f(x=a[i], y=2)
