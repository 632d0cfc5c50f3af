# error: 3:7: there is no 'threadIdx.x' here; the place in the workgroup is a parameter, t: LocalIndex
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    x[threadIdx.x] = 1
