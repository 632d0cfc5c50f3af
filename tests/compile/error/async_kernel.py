# error: 2:1: 'async' is not in the kernel language; a kernel is a plain def
async def k(i: Index, a: Array[f32]):
    a[i] = 1.0
