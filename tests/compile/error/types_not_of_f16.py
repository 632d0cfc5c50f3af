# error: 3:12: '~' takes integers, but this is f16
def k(i: Index, a: Array[f16]):
    a[i] = ~a[i]
