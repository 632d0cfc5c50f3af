# error: 2:17: '*' is for the functions that a kernel calls; what a kernel takes is passed in order or by name
def k(i: Index, *, x: f32):
    pass
