# error: 3:13: this character is not part of the kernel language; write a plain space
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[i] = a[i]
