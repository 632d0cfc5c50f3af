# error: 2:25: there is no 'x' here: it is neither a parameter, nor assigned in the kernel, nor a name of the kernel language
def scale(x, factor=len(x)):
    return x * factor


def k(i: Index, n: Array[i32]):
    n[i] = scale(i)
