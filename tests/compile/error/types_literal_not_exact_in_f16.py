# error: 3:12: 2049 is not exact in f16; write f16(2049)
def k(i: Index, a: Array[f16]):
    a[i] = 2049
