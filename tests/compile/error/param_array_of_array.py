# error: 2:26: Array[f32] is for a parameter only; an array in a variable has a length, as in Array(16, f32)
def k(i: Index, x: Array[Array[f32]]):
    pass
