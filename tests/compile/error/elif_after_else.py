# error: 7:5: this 'elif' belongs to no 'if' or loop of the same indentation
def k(i: Index, a: Array[f32]):
    if i > 0:
        pass
    else:
        pass
    elif i > 1:
        pass
