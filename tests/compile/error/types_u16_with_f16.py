# error: 3:12: '*' takes two values of one type, but these are f16 and u16; write f16(n[i])
def k(i: Index, a: Array[f16], n: Array[u16]):
    a[i] = a[i] * n[i]
