# error: 4:9: 'N' is used here before it is assigned
N = 4
def k(i: Index, a: Array[f32]):
    N = N + 1
    a[i] = N
