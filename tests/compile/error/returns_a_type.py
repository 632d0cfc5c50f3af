# error: 2:35: a kernel returns nothing; it writes its results to buffers
def k(i: Index, a: Array[f32]) -> f32:
    a[i] = 1.0
