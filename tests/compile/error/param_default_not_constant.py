# error: 5:45: 'TABLE' is a tuple; index it, as in TABLE[0], or assign it to several names
TABLE = (1, 2)


def k(i: Index, x: Array[f32], y: i32 = 1 + TABLE):
    pass
