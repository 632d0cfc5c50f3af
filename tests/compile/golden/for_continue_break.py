# continue goes to the block that counts up, break to the merge block.
def k(i: Index, n: i32, b: Array[i32]):
    r = 0
    for j in range(n):
        if j % 2 == 0:
            continue
        if j == b[i]:
            break
        r += j
    b[i] = r
