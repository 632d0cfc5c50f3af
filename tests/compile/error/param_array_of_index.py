# error: 2:26: the elements of an array are scalars or vectors, not Index
def k(i: Index, x: Array[Index]):
    pass
