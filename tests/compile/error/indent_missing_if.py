# error: 3:14: expected an indented block after the condition of 'if'
def k(i: Index, a: Array[f32]):
    if i > 0:
    a[i] = 1.0
