# error: 3:12: '*' takes two values of one type, but these are i64 and a float literal; write f32(a[i])
def k(i: Index, a: Array[i64]):
    a[i] = a[i] * 0.5
