# error: 3:12: there is no function 'popcount' in the kernel language; write n.bit_count()
def k(i: Index, n: Array[i32]):
    n[i] = popcount(n[i])
