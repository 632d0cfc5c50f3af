# error: 7:21: P gets 'x' twice
class P(Struct):
    x: f32
    y: f32

def k(i: Index, p: Array[P]):
    p[i] = P(1.0, x=2.0)
