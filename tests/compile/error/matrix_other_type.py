# error: 3:12: '*' takes two values of one type, but these are mat3 and mat2; the product is '@'
def k(i: Index, a: Array[mat3], b: Array[mat2]):
    a[i] = a[i] * b[i]
