# error: 3:18: 'a' has 2 axes, but this is 1 index; write a[i, j]
def k(i: Index, a: Array[i32, 2]):
    atomic_add(a[i], 1)
