# error: 2:9: a parameter's tuple is (resource, slot, type), as in ("buffer", 0, Array(f32))
def k(x=("buffer", 0)):
    pass
