# out = a * b, element by element.
def multiply(i: Index, a: Array[f32], b: Array[f32], out: Array[f32]):
    out[i] = a[i] * b[i]
