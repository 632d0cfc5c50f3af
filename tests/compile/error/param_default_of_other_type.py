# error: 2:26: the default value is i32, but this is a float literal; write i32(1.5)
def k(i: Index, x: i32 = 1.5):
    pass
