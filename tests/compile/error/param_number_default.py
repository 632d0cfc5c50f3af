# error: 2:26: a parameter of a kernel has no default value; the caller passes it
def k(i: Index, x: f32 = 1.0):
    pass
