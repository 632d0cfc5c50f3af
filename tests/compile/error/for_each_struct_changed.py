# error: 9:9: in Python 'c' would be this Cell itself, and an assignment to a field of the one changes the other; go over range(len(m)), and write m[k].copy()
class Cell(Struct):
    n: i32
    w: f32


def k(i: Index, x: Array[i32]):
    m = [Cell(1, 2.0), Cell(i, 3.0)]
    for c in m:
        c.n += 5
        x[i] += c.n
