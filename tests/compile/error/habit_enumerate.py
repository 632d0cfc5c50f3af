# error: 3:10: a for loop of a kernel has one variable, as in for k in range(n)
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    for j, v in enumerate(x):
        x[j] = v
