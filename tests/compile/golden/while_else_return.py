# A while with an else, left by break and by return.
def k(i: Index, b: Array[i32]):
    j = 0
    while j < 10:
        if b[i] == j:
            break
        if b[i] > 100:
            return
        j += 1
    else:
        j = -1
    b[i] = j
