# error: 3:12: 2 names, but the 3 rows of mat3
def k(i: Index, m: Array[mat3], x: Array[f32]):
    a, b = m[i]
    x[i] = a.x + b.y
