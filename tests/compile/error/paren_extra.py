# error: 3:15: this bracket closes nothing
def k(i: Index, a: Array[f32]):
    a[i] = 1.0)
