# error: 3:27: matrix_inverse takes a square matrix, but this is mat3x2
def k(i: Index, a: Array[mat3x2]):
    a[i] = matrix_inverse(a[i])
