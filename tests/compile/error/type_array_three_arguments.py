# error: 2:23: Array takes a type, or a length and a type, as in Array(16, f32)
def k(x=("buffer", 0, Array(2, 3, f32))):
    pass
