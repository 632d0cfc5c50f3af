# error: 3:9: there is no 'cuda.threadIdx.x' here; the place in the workgroup is a parameter, t: LocalIndex
def k(i: Index, a: Array[f32], out: Array[f32]):
    j = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    out[j] = 1.0
