# error: 4:12: in Python these would be second names of what is in 'm', which a kernel has not; copy them one by one, as in m[0].copy()
def k(i: Index, x: Array[i32]):
    m = [[1, 2], [3, i]]
    a, b = m
    x[i] = a[0] + b[0]
