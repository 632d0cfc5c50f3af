# error: 3:25: a row of mat2 has 2 numbers, but this has 1
def k(i: Index, a: Array[mat2]):
    a[i] = mat2([1, 2], [3])
