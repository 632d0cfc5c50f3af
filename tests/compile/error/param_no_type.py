# error: 2:17: the parameter 'x' has no type; write x: Array[f32], x: Index or x: f32
def k(i: Index, x):
    pass
