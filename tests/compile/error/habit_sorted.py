# error: 3:9: there is no function 'sorted' in the kernel language; write a for loop
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    t = sorted(x)
