# error: 3:12: '+' takes two values of one type, but these are i8 and u8; write i8(b[i])
def k(i: Index, a: Array[i8], b: Array[u8]):
    a[i] = a[i] + b[i]
