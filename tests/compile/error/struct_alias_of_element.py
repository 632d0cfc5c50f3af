# error: 6:9: in Python 'q' would be this P itself, and an assignment to a field of the one changes the other; write p[i].copy()
class P(Struct):
    x: f32

def k(i: Index, p: Array[P]):
    q = p[i]
    q.x = 1.0
