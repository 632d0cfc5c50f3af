# error: 2:27: the number of components is between 2 and 4, not 5
def k(i: Index, x: Vector(5, f32)):
    pass
