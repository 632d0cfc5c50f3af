# error: 6:14: 'x' of P is f32, but this is i32; write f32(i)
class P(Struct):
    x: f32

def k(i: Index, p: Array[P]):
    p[i] = P(i)
