# error: 3:12: '+' takes numbers, but this is bool; write i32(a[i])
def k(i: Index, a: Array[bool], n: Array[i32]):
    n[i] = n[i] + a[i]
