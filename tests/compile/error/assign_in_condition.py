# error: 3:10: expected ':' after the condition of 'if', found '='; '==' compares
def k(i: Index, a: Array[f32]):
    if i = 3:
        a[i] = 1.0
