# error: 2:26: kernels do not support the type 'mat4' yet
def k(i: Index, x: Array[mat4]):
    pass
