# error: 3:5: pick is declared to return 0 values, but this is 1
def pick(i: i32) -> None:
    return i


def k(i: Index, n: Array[i32]):
    n[i] = pick(i)
