# error: 2:21: expected an expression, found end of the source
def k(i: Index, x: ""):
    pass
