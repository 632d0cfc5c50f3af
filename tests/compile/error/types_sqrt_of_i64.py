# error: 3:17: sqrt takes floats, but this is i64; write f32(a[i])
def k(i: Index, a: Array[i64]):
    a[i] = sqrt(a[i])
