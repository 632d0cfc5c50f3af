# error: 3:15: a tuple is no vec2; write vec2(...)
def k(i: Index, out: Array[f32]):
    v: vec2 = (1, 2)
    out[i] = v.x
