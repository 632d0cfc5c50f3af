# error: 4:8: expected an expression, found end of the line; write n += 1
def k(i: Index, b: Array[i32]):
    j = 0
    j++
