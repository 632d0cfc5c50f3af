# error: 3:11: expected the end of the statement, found 'x'; a variable takes its type from its value, as in x = 1.0, or behind its name, as in x: f32 = 1
def k(i: Index, a: Array[f32], out: Array[f32]):
    float x = 1.0
    out[i] = x
