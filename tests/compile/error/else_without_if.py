# error: 4:5: this 'else' belongs to no 'if' or loop of the same indentation
def k(i: Index, a: Array[f32]):
    a[i] = 1.0
    else:
        a[i] = 2.0
