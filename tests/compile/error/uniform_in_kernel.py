# error: 3:8: Uniform[...] is for a parameter only
def k(i: Index, x: Array[f32]):
    s: Uniform[f32] = 1.0
