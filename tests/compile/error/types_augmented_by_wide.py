# error: 3:13: 'a[i]' is u8, but this is i32; write u8(n)
def k(i: Index, a: Array[u8], n: i32):
    a[i] += n
