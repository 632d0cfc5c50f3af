# error: 3:5: there is no function 'syncthreads' in the kernel language; write barrier()
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    cuda.syncthreads()
