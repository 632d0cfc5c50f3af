# error: 3:7: a pixel is counted in 32 bits, but this is i64; write i32(n[0])
def k(at: Index2, a: Image2D[f32], n: Array[i64]):
    a[n[0], 1] = 1.0
