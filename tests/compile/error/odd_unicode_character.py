# error: 3:10: this character is not part of the kernel language
def k(i: Index, a: Array[f32]):
    a[i] → 1.0
