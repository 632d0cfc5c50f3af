# error: 3:12: mul_hi takes integers of at most 32 bits, but this is u64
def k(i: Index, n: Array[u64]):
    n[i] = mul_hi(n[i], n[i])
