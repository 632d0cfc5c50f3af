# error: 2:27: only a number has a default value, but 'x' is vec2
def k(i: Index, x: vec2 = 1.0):
    pass
