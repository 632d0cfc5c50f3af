# error: 3:9: there is no function 'grid' in the kernel language; the index is a parameter, i: Index
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    t = cuda.grid(1)
