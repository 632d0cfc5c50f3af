# error: 6:14: 'n[i].a' is i32, but this is f32; write i32(x[i])
class N(Struct):
    a: i32

def k(i: Index, n: Array[N], x: Array[f32]):
    n[i].a = x[i]
