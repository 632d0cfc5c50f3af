# error: 3:11: expected an expression, found '>'; write '!='
def k(i: Index, a: Array[f32]):
    if i <> 3:
        a[i] = 1.0
