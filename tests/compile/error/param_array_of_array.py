# error: 2:26: expected a type such as f32 or vec2 here
def k(i: Index, x: Array[Array[f32]]):
    pass
