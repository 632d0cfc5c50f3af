# error: 5:12: expected the end of the statement, found 'a'; write 'elif'
def k(i: Index, a: Array[f32], out: Array[f32]):
    if a[i] > 0:
        out[i] = 1.0
    elseif a[i] < 0:
        out[i] = 2.0
