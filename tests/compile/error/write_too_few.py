# error: 3:5: a.write takes 2 arguments, not 1
def k(i: Index2, a: Image2D[f32]):
    a.write(1.0)
