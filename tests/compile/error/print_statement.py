# error: 3:11: expected the end of the statement, found 'a'; write print(...)
def k(i: Index, a: Array[f32], out: Array[f32]):
    print a[i]
