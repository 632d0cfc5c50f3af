# error: 5:26: there is no type 'P'; a kernel has f32, i32, u8, bool, vec2 ..., Array[...] and Index
class P:
    x: f32

def k(i: Index, p: Array[P]):
    pass
