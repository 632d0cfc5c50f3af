# error: 3:14: this character is not part of the kernel language; write a if c else b
def k(i: Index, a: Array[f32]):
    a[i] = i ? 1.0 : 2.0
