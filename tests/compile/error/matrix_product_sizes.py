# error: 3:12: '@' takes matrices and vectors of sizes that fit, but these are mat3x2 and vec2
def k(i: Index, a: Array[mat3x2], v: Array[vec2]):
    v[i] = a[i] @ v[i]
