# error: 2:44: only a number has a default value, but 'v' is vec2
def k(i: Index, out: Array[f32], v: vec2 = (1, 2)):
    out[i] = v.x
