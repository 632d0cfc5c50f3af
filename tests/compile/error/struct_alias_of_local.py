# error: 7:9: in Python this would be 'q' itself, in which something is assigned elsewhere; write q.copy()
class P(Struct):
    x: f32

def k(i: Index, p: Array[P]):
    q = P(1.0)
    r = q
    q.x = 2.0
    p[i] = r
