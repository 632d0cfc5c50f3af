# error: 3:19: a number beside a matrix is f32, but this is i32; write f32(i)
def k(i: Index, a: Array[mat2]):
    a[i] = a[i] * i
