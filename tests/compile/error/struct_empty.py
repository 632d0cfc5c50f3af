# error: 2:7: a struct has at least one field, as in mass: f32
class P(Struct):
    pass

def k(i: Index, p: Array[P]):
    pass
