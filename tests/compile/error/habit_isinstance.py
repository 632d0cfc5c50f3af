# error: 3:8: there is no function 'isinstance' in the kernel language; types are known when the kernel is made
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    if isinstance(n, int):
        x[i] = 1
