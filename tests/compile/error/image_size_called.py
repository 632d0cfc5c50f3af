# error: 3:12: 'a.size' is no function; leave out the parentheses
def k(at: Index2, a: Image2D[f32], x: Array[i32]):
    x[0] = a.size()
