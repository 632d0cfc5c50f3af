# error: 3:17: 'a[i]' is mat3 and has two axes, but these are 3 indices
def k(i: Index, a: Array[mat3], o: Array[f32]):
    o[i] = a[i][1, 2, 0]
