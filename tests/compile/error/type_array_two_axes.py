# error: 2:21: kernels do not support arrays of several axes yet
def k(i: Index2, x: Array[f32, 2]):
    pass
