# error: 3:12: write gives no value; it is a statement of its own
def k(i: Index2, a: Image2D[f32], x: Array[f32]):
    x[0] = a.write(i, 1.0)
