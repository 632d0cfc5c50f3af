# error: 2:20: a binding is between 0 and 65535, not -1
def k(x=("buffer", -1, Array(f32))):
    pass
