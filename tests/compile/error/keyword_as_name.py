# error: 3:5: 'class' is not in the kernel language; define it outside of the kernel
def k(i: Index, a: Array[f32]):
    class = 1.0
