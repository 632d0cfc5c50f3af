# error: 2:34: 'lambda' is not in the kernel language; define a function outside of the kernel with def
def k(i: Index, a: Array[f32], x=lambda: 1):
    a[i] = 1.0
