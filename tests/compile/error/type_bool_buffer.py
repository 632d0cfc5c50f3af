# error: 2:26: kernels do not support buffers of bool yet; use u32
def k(i: Index, x: Array[bool]):
    pass
