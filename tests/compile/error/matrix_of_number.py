# error: 3:12: mat3 takes its elements or its rows; a diagonal is 1.0 * eye(3)
def k(i: Index, a: Array[mat3]):
    a[i] = mat3(1.0)
