# error: 3:5: 'class' is not in the kernel language
def k(i: Index, a: Array[f32]):
    class = 1.0
