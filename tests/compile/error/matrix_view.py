# error: 2:20: the elements of a view with axes are scalars or vectors, not mat3
def k(i: Index, a: Array[mat3, 2]):
    a[i, 0] *= 2
