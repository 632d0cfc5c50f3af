# error: 3:17: 'if' starts a line of its own
def k(i: Index, a: Array[f32]):
    a[i] = 1.0; if i > 0: a[i] = 2.0
