# error: 2:32: expected the end of the type, found 'now'
def k(i: Index, x: "Array[f32] now"):
    pass
