# error: 3:7: an index is an integer, but this is ivec2; index with a component, as in i.x
def k(i: Index2, a: Array[f32]):
    a[i] = 1.0
