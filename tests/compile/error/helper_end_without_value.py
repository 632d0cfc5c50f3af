# error: 2:5: pick returns i32 in line 4, but its end, which can be reached, returns nothing
def pick(i: i32):
    if i > 3:
        return i


def k(i: Index, n: Array[i32]):
    n[i] = pick(i)
