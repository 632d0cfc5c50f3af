# error: 4:16: atomic_add works on a number in a buffer or in shared memory, as in atomic_add(a[i], x) or atomic_add(a, i, x)
def k(i: Index, a: Array[i32]):
    row = [1, 2, 3]
    atomic_add(row[i], 1)
