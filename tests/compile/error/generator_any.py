# error: 3:21: generators are not in the kernel language; write a for loop
def k(i: Index, a: Array[f32], out: Array[f32]):
    if any(a[j] > 0 for j in range(4)):
        out[i] = 1.0
