def matrices(i: Index, a: Array[mat4], b: Array[mat3], v: Array[vec4], m: mat3):
    n = a[i] @ a[i].T + 2.0
    n[1, 2] = v[i].x
    n[i] = n @ v[i]
    a[i] = n * a[i]
    v[i] = v[i] @ n
    b[i] = matrix_inverse(m)
