# error: 3:12: mat3 has 3 rows, but these are 2
def k(i: Index, a: Array[mat3]):
    a[i] = mat3([[1, 2, 3], [4, 5, 6]])
