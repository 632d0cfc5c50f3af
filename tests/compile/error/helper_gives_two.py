# error: 7:12: both gives 2 values; assign them to 2 names
def both(i):
    return i, i + 1


def k(i: Index, n: Array[i32]):
    n[i] = both(i)
