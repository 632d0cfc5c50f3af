# error: 2:23: kernels do not support the type 'Struct' yet
def k(x=("buffer", 0, Struct(a=f32))):
    pass
