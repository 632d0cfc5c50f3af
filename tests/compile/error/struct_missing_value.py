# error: 7:12: P needs a value for 'y'
class P(Struct):
    x: f32
    y: f32

def k(i: Index, p: Array[P]):
    p[i] = P(1.0)
