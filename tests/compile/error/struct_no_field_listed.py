# error: 7:17: P has no field 'weight'; it has x, y
class P(Struct):
    x: f32
    y: f32

def k(i: Index, p: Array[P], a: Array[f32]):
    a[i] = p[i].weight
