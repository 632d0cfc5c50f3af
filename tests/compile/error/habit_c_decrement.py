# error: 3:8: expected an expression, found end of the line; write n -= 1
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    n--
