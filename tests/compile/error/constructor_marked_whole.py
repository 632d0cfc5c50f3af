# error: 4:9: 'x' is f32, but this is vec2
def k(i: Index, a: Array[f32], out: Array[f32]):
    x = 1.0
    x = vec2(1.0)
    out[i] = 1.0
