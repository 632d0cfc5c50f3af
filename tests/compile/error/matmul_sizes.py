# error: 5:14: '@' takes matrices and vectors of sizes that fit, but these are mat3 and vec2
def k(i: Index, a: Array[f32], out: Array[f32]):
    m = mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    v = vec2(1.0)
    out[i] = (m @ v).x
