# error: 3:8: '<' takes two values of one type, but these are u64 and i64; write u64(b[i])
def k(i: Index, a: Array[u64], b: Array[i64]):
    if a[i] < b[i]:
        a[i] = 0
