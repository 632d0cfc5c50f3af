# error: 2:20: a constant is a number or a bool, not a vec2
def k(i: Index, n: Const[vec2], a: Array[i32]):
    a[i] = 0
