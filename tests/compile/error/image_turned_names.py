# error: 4:15: a pixel of 'a' is a[x, y], x first, but these are y and x; write a[ivec2(...)] where that is meant
def k(at: Index2, a: Image2D[f32], b: Image2D[f32]):
    x, y = at
    b[at] = a[y, x]
