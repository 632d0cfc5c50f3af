# error: 7:8: structs cannot be compared; compare their fields: x, y
class P(Struct):
    x: f32
    y: f32

def k(i: Index, p: Array[P]):
    if p[i] == p[0]:
        p[i].x = 1.0
