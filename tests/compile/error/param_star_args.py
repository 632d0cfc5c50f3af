# error: 2:17: '*' parameters are not in the kernel language
def k(i: Index, *x):
    pass
