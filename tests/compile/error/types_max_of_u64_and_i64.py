# error: 3:12: max takes two values of one type, but these are u64 and i64; write u64(b[i])
def k(i: Index, a: Array[u64], b: Array[i64]):
    a[i] = max(a[i], b[i])
