# error: 3:12: the value returned is f32, but this is i32; write f32(i) (in pick(i32), called in line 7)
def pick(i) -> f32:
    return i


def k(i: Index, x: Array[f32]):
    x[i] = pick(i)
