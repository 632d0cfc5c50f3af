# error: 3:5: this string has no end
def k(i: Index, a: Array[f32]):
    """no end
    a[i] = 1.0
