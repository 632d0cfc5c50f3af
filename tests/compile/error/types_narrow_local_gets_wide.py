# error: 4:9: 'x' is u16 since line 3, but this is u32; write u16(n)
def k(i: Index, a: Array[u16], n: u32):
    x = a[i]
    x = n
