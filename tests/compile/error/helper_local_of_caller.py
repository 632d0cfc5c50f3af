# error: 3:12: there is no 'factor' here: it is neither a parameter, nor assigned in the kernel, nor a name of the kernel language
def scale():
    return factor * 2


def k(i: Index, n: Array[i32]):
    factor = 3
    n[i] = scale()
