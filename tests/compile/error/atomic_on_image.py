# error: 3:16: atomic_add takes a buffer or shared memory, an index and a value, as in atomic_add(a, i, x)
def k(i: Index2, a: Image2D[i32]):
    atomic_add(a, i, 1)
