# error: 3:22: the value of an atomic is i32, but this is a float literal; write i32(0.5)
def k(i: Index, a: Array[i32]):
    atomic_add(a, i, 0.5)
