# error: 2:26: there is no type 'str'; strings are not in the kernel language
def k(i: Index, a: Array[str]):
    a[i] = 1.0
