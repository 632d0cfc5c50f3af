# error: 3:12: vec4 takes a number or a vector, but this is mat2; take its rows or elements
def k(i: Index, a: Array[mat2], v: Array[vec4]):
    v[i] = vec4(a[i])
