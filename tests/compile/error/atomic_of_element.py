# error: 3:16: 'a[i]' is an f32 and cannot be indexed
def k(i: Index, a: Array[f32]):
    atomic_add(a[i], 0, 1.0)
