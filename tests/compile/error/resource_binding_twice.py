# error: 2:36: 'x' and 'y' have the same binding 0
def k(x=("buffer", 0, Array(f32)), y=("buffer", 0, Array(i32))):
    pass
