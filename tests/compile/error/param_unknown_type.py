# error: 2:26: there is no type 'float33'; a kernel has f32, i32, u8, bool, vec2 ..., Array[...] and Index
def k(i: Index, x: Array[float33]):
    pass
