# error: 3:12: '**' is not for matrices, which have + - * / by element, and @
def k(i: Index, a: Array[mat2]):
    a[i] = a[i] ** 2
