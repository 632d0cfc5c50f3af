# error: 3:7: there is no 'i' here; the index is a parameter, i: Index
def k(a: Array[f32]):
    a[i] = 1.0
