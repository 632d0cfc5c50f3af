# error: 3:8: Array[f32] is for a parameter only; an array in a variable has a length, as in Array(16, f32)
class P(Struct):
    x: Array[f32]

def k(i: Index, p: Array[P]):
    pass
