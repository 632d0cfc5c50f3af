# error: 3:16: '(' is never closed
def k(i: Index, a: Array[f32]):
    a[i] = sqrt(1.0
