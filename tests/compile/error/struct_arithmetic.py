# error: 6:12: '+' takes numbers, but this is P
class P(Struct):
    x: f32

def k(i: Index, p: Array[P]):
    p[i] = p[i] + p[0]
