# error: 2:32: expected an indented block after the parameters
def k(i: Index, a: Array[f32]):
