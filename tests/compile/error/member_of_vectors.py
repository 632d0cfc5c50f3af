# error: 3:8: 'in' looks for a number, but this is vec2
def k(i: Index, v: vec2, a: Array[i32]):
    if v in (v, v):
        a[i] = 1
