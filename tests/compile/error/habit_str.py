# error: 3:9: there is no function 'str' in the kernel language; strings are not in the kernel language
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    t = str(n)
