# error: 2:48: the default value is i32, but this is a float literal; write i32(0.5)
def k(i: Index, a: Array[i32], n: Const[i32] = 0.5):
    a[i] = n
