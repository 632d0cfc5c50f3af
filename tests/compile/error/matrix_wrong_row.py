# error: 3:28: a row of mat3x2 is a vec3, but this is vec2
def k(i: Index, a: Array[mat3x2]):
    a[i] = mat3x2(vec3(0), vec2(1, 2))
