# error: 2:29: the length of an array is between 1 and 2147483647, not 0
def k(x=("buffer", 0, Array(0, f32))):
    pass
