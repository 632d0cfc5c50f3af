# error: 2:31: there is no 'i' here: it is neither a parameter, nor assigned in the kernel, nor a name of the kernel language
def k(i: Index, a: Array[f32, i]):
    a[0, 0] = 1.0
