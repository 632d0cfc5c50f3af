# error: 6:5: in Python this would change the caller's 'p' too; change a copy: x = p.copy() (in change(P), called in line 9)
class P(Struct):
    x: f32

def change(p):
    p.x = 1.0

def k(i: Index, ps: Array[P]):
    change(ps[i])
