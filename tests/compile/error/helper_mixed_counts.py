# error: 5:5: pick returns 2 values in line 4, but 1 here
def pick(i: i32):
    if i > 3:
        return i, 2
    return i


def k(i: Index, n: Array[i32]):
    n[i], n[0] = pick(i)
