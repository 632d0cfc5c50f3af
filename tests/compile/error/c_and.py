# error: 3:15: expected an expression, found '&'; write 'and'
def k(i: Index, a: Array[f32]):
    if i > 0 && i < 3:
        a[i] = 1.0
