# error: 3:18: max takes values, but 'a' is a buffer; go over it in a for loop
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[i] = max(a)
