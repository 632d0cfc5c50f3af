# error: 3:7: a pixel of 'a' is a[x, y], x first, but these are y and x; write a[ivec2(...)] where that is meant
def k(at: Index2, a: Image2D[f32]):
    a[at.y, at.x] = 1.0
