# error: 3:11: print takes numbers, vectors and texts, but this is mat3
def k(i: Index, a: Array[mat3]):
    print(a[i])
