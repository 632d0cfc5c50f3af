# error: 3:12: '*' takes no matrix and vector; the product is m @ v, and rows go one by one
def k(i: Index, a: Array[mat3], v: Array[vec3]):
    v[i] = a[i] * v[i]
