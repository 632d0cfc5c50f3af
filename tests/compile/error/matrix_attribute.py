# error: 3:12: 'a[i]' is a mat3 and has no 'x'; it has .T, rows m[i] and elements m[i, j]
def k(i: Index, a: Array[mat3], v: Array[vec3]):
    v[i] = a[i].x
