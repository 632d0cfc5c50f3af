# error: 5:12: pick returns i32 in line 4, but f32 here; write i32(x) (in pick(i32, f32), called in line 9)
def pick(i, x):
    if i > 3:
        return i
    return x


def k(i: Index, x: Array[f32]):
    x[i] = pick(i, x[i])
