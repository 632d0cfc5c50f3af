# error: 3:5: atomic_add takes 2 to 3 arguments, not 1
def k(i: Index, a: Array[i32]):
    atomic_add(a[i])
