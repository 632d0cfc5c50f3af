# error: 2:20: a binding is an integer constant
def k(x=("buffer", "zero", Array(f32))):
    pass
