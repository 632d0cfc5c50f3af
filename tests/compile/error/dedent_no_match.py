# error: 5:1: this indentation matches no line above
def k(i: Index, a: Array[f32]):
    if i > 0:
            a[i] = 1.0
        a[i] = 2.0
