# error: 2:31: expected ':' after the parameters, found end of the line
def k(i: Index, a: Array[f32])
    a[i] = 1.0
