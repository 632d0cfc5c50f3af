# error: 9:12: in Python these would be second names of what is in 'm', which a kernel has not; copy them one by one, as in m[0].copy()
class Cell(Struct):
    n: i32
    w: f32


def k(i: Index, x: Array[i32]):
    m = [Cell(1, 2.0), Cell(i, 3.0)]
    a, b = m
    a.n = 5
    x[i] = m[0].n + b.n
