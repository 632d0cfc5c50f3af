# error: 4:8: expected an expression, found end of the line
def k(i: Index, b: Array[i32]):
    j = 0
    j++
