# error: 3:9: '...' is not in the kernel language; index one element
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[...] = 1.0
