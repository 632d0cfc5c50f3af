# error: 2:6: type parameters are not in the kernel language
def k[T](i: Index, a: Array[f32]):
    a[i] = 1.0
