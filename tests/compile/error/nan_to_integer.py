# error: 3:16: cannot convert float NaN to integer
def k(i: Index, a: Array[i32]):
    a[i] = i32(math.nan)
