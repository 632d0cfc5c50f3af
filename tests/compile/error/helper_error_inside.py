# error: 4:12: '*' takes two values of one type, but these are i32 and a float literal; write f32(y) (in scale(i32, a float literal), called in line 8)
def scale(x, factor):
    y = x * 2
    return y * factor


def k(i: Index, n: Array[i32]):
    n[i] = scale(i, 0.5)
