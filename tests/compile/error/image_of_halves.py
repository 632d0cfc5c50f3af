# error: 2:30: a pixel reads as f32, i32, u32 or a vector of these, not as f16; how it is stored is its format, as in Image2D[f32, "r16f"]
def k(at: Index2, a: Image2D[f16]):
    pass
