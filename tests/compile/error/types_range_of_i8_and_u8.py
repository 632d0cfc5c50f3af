# error: 3:26: the arguments of range have one type, but these are i8 and u8; write i8(b[i])
def k(i: Index, a: Array[i8], b: Array[u8]):
    for n in range(a[i], b[i]):
        a[i] = n
