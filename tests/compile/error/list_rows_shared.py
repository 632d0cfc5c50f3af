# error: 3:9: in Python all these elements would be one and the same list; write [[...] for _ in range(3)]
def k(i: Index, a: Array[f32], out: Array[f32]):
    t = [[0.0] * 3] * 3
    out[i] = t[0][0]
