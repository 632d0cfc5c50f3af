# error: 3:12: strings are not in the kernel language
def k(i: Index, a: Array[f32]):
    a[i] = b"x"
