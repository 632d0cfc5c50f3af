# error: 3:12: '<<' takes integers, but these are i8 and f16
def k(i: Index, a: Array[i8], x: f16):
    a[i] = a[i] << x
