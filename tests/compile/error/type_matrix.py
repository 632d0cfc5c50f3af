# error: 2:26: there is no type 'mat5'; did you mean mat2?
def k(i: Index, m: Array[mat5]):
    pass
