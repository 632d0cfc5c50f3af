# error: 6:16: atomic_add works on a number in a buffer or in shared memory, as in atomic_add(a[i], x) or atomic_add(a, i, x)
class P(Struct):
    n: i32
def k(i: Index, p: Array[P]):
    q = p[i].copy()
    atomic_add(q.n, 1)
