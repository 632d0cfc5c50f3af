# error: 6:17: P has no field 'mas'; did you mean 'mass'?
class P(Struct):
    mass: f32

def k(i: Index, p: Array[P], x: Array[f32]):
    x[i] = p[i].mas
