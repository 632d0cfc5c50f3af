# error: 3:7: the pixels of 'a' are counted from 0, not from the end
def k(at: Index2, a: Image2D[f32]):
    a[-1, at.y] = 1.0
