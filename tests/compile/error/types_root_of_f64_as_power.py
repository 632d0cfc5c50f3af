# error: 3:12: f64 has no '**' with an exponent that is not whole; write sqrt(a[i])
def k(i: Index, a: Array[f64]):
    a[i] = a[i] ** 0.5
