# The right side of "and" is in a block of its own; the middle of a chained comparison is evaluated once.
def k(i: Index, b: Array[i32]):
    if i > 0 and 0 < b[i - 1] < 5:
        b[i] = 1
