# error: 3:9: there is no 'blockIdx.x' here; the number of the workgroup is a parameter, g: GroupIndex
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    t = blockIdx.x * blockDim.x
