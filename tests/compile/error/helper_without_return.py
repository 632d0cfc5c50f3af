# error: 6:14: g returns nothing; it has no return with a value
def g(x):
    y = x * 2

def k(i: Index, a: Array[f32], out: Array[f32]):
    out[i] = g(a[i])
