# error: 3:15: expected an expression, found '|'; write 'or'
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    if n > 1 || n < 0:
        x[i] = 1
