# error: 3:5: 'n' is a uniform, which kernels only read; write to a buffer, Array[...]
def k(i: Index, n: Uniform[i32]):
    n += 1
