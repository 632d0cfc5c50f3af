# error: 3:16: the source is not UTF-8 here
def k(i: Index, a: Array[f32]):
    a[i] = 1.0 ÿþ 2.0
