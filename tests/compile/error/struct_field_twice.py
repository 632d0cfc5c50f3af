# error: 2:7: there are two fields 'x'
class P(Struct):
    x: f32
    x: i32

def k(i: Index, p: Array[P]):
    p[i].x = 1.0
