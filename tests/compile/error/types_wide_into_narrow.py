# error: 3:12: 'a[i]' is i8, but this is i32; write i8(n)
def k(i: Index, a: Array[i8], n: i32):
    a[i] = n
