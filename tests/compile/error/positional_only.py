# error: 2:17: '/' among parameters is not in the kernel language
def k(i: Index, /, a: Array[f32]):
    a[i] = 1.0
