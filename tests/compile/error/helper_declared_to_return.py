# error: 2:5: pick is declared to return 1 value, but it returns nothing
def pick(i: i32) -> f32:
    i += 1


def k(i: Index, x: Array[f32]):
    x[i] = pick(i)
