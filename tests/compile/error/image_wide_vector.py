# error: 3:7: a pixel is counted in 32 bits, but this is u64vec2; write ivec2(n[0])
def k(at: Index2, a: Image2D[f32], n: Array[u64vec2]):
    a[n[0]] = 1.0
