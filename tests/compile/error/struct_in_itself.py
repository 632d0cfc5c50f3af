# error: 2:7: the struct 'P' cannot have itself as a field
class P(Struct):
    x: f32
    next: P

def k(i: Index, p: Array[P]):
    p[i].x = 1.0
