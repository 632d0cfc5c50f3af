# error: 3:7: there is no 'gl_GlobalInvocationID.x' here; the index is a parameter, i: Index3
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    x[gl_GlobalInvocationID.x] = 1
