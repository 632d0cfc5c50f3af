# error: 7:20: f takes 1 argument by place; write y=2
def f(x, *, y):
    return x + y


def k(i: Index, a: Array[i32]):
    a[i] = f(a[i], 2)
