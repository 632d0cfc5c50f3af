# error: 3:15: cannot convert float infinity to integer
def k(i: Index, a: Array[i32]):
    a[i] = u8(-math.inf)
