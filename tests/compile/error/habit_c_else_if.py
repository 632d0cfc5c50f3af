# error: 5:10: expected ':' after 'else', found 'if'; write 'elif'
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    if n > 1:
        x[i] = 1
    else if n > 2:
        x[i] = 2
