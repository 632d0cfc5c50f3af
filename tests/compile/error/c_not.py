# error: 3:8: this character is not part of the kernel language; write 'not'
def k(i: Index, a: Array[f32]):
    if !i:
        a[i] = 1.0
