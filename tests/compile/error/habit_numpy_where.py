# error: 3:12: there is no function 'where' in the kernel language; write a if c else b
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    x[i] = np.where(n > 1, x[i], 0.0)
