# error: 3:5: decorators inside a kernel are not in the kernel language
def k(i: Index, a: Array[f32]):
    @x
    a[i] = 1.0
