# error: 3:12: there is no function 'random' in the kernel language; pass random numbers in a buffer, or work them out from the index with integers
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    x[i] = random.random()
