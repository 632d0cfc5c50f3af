# error: 3:16: atomic_add works on a number in a buffer or in shared memory, as in atomic_add(a[i], x) or atomic_add(a, i, x)
def k(i: Index2, a: Image2D[i32]):
    atomic_add(a, i, 1)
