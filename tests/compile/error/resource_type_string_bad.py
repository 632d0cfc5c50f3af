# error: 2:30: there is no type 'f33'; did you mean f32?
def k(x=("buffer", 0, "Array(f33)")):
    pass
