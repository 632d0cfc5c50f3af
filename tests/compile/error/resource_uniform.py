# error: 2:10: kernels do not support the resource 'uniform' yet
def k(x=("uniform", 0, f32)):
    pass
