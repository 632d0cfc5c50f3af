# error: 3:18: a backslash that continues a line is the last character of that line
def k(i: Index, a: Array[f32]):
    a[i] = 1.0 + \ 2.0
