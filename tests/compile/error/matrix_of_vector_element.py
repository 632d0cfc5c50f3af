# error: 3:12: 'a[i]' is mat2, but this is vec4
def k(i: Index, a: Array[mat2], v: Array[vec4]):
    a[i] = v[i]
