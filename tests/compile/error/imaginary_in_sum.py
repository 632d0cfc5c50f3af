# error: 3:18: complex numbers are not in the kernel language
def k(i: Index, a: Array[f32]):
    a[i] = 1.0 + 3j
