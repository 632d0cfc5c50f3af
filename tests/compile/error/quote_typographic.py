# error: 3:21: this character is not part of the kernel language; write "
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[i] = a[i] * “2”
