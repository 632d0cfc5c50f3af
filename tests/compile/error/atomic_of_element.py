# error: 3:16: atomic_add takes a buffer or shared memory, an index and a value, as in atomic_add(a, i, x)
def k(i: Index, a: Array[f32]):
    atomic_add(a[i], 0, 1.0)
