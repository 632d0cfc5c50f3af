# error: 3:12: '*' takes two values of one type, but these are f64 and i64; write f64(n[i])
def k(i: Index, a: Array[f64], n: Array[i64]):
    a[i] = a[i] * n[i]
