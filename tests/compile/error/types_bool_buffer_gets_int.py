# error: 3:12: 'a[i]' is bool, but this is i32; write bool(n[i])
def k(i: Index, a: Array[bool], n: Array[i32]):
    a[i] = n[i]
