# error: 3:14: a field has no default value
class P(Struct):
    x: f32 = 1.0

def k(i: Index, p: Array[P]):
    p[i].x = 1.0
