# error: 3:12: mat3 has 9 elements, in 3 rows of 3, but these are 4
def k(i: Index, a: Array[mat3]):
    a[i] = mat3(1, 2, 3, 4)
