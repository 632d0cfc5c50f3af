# error: 3:31: expected the end of the statement, found 'else'
def k(i: Index, a: Array[f32], out: Array[f32]):
    if a[i] > 0: out[i] = 1.0 else: out[i] = 2.0
