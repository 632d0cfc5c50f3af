# error: 3:5: atomic_add takes 3 arguments, not 2
def k(i: Index, a: Array[i32]):
    atomic_add(a, i)
