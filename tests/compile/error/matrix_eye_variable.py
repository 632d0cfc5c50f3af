# error: 3:16: eye takes the number of rows, 2 to 4
def k(i: Index, a: Array[mat3]):
    a[i] = eye(i)
