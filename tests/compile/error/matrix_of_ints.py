# error: 2:26: a matrix is made of f32, f16 or f64, not of i32
def k(i: Index, a: Array[Matrix(2, 2, i32)]):
    a[i] = a[0]
