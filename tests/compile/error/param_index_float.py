# error: 2:10: there is no type 'Index4'; did you mean Index?
def k(i: Index4, x: Array[f32]):
    pass
