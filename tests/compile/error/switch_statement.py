# error: 3:12: expected the end of the statement, found 'i'; write if and elif
def k(i: Index, a: Array[f32], out: Array[f32]):
    switch i:
        case 0: pass
