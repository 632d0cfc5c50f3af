# error: 3:9: 'x' is i32 since line 2, but this is f32; write i32(0.9)
def k2(x: i32):
    x = 0.9
    return x


def k(i: Index, n: Array[i32]):
    n[i] = k2(i)
