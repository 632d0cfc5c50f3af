# error: 3:13: expected ':' after the condition of 'if', found end of the line
def k(i: Index, a: Array[f32]):
    if i > 0
        a[i] = 1.0
