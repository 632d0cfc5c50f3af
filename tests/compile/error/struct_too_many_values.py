# error: 6:12: P has 1 field, but these are 2
class P(Struct):
    x: f32

def k(i: Index, p: Array[P]):
    p[i] = P(1.0, 2.0)
