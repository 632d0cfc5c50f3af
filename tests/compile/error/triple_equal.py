# error: 3:15: expected an expression, found '='; '==' compares
def k(i: Index, a: Array[f32], out: Array[f32]):
    if a[i] === 0:
        out[i] = 1.0
