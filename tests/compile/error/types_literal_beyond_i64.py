# error: 3:12: 'a[i]' is i64, but this is u64; write i64(9223372036854775808)
def k(i: Index, a: Array[i64]):
    a[i] = 9223372036854775808
