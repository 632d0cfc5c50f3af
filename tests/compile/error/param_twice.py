# error: 2:32: there are two parameters 'x'
def k(i: Index, x: Array[f32], x: Array[f32]):
    pass
