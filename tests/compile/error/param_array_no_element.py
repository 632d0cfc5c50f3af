# error: 2:20: Array needs the type of its elements, as in Array[f32]
def k(i: Index, x: Array):
    pass
