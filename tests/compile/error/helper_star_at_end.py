# error: 2:10: '*' stands once, in front of the parameters that are passed by name
def f(x, *):
    return x


def k(i: Index, a: Array[i32]):
    a[i] = f(a[i])
