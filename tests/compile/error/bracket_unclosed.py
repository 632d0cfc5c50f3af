# error: 3:9: expected ']' or ',' here to go on from the '[' of line 3, found '='
def k(i: Index, a: Array[f32]):
    a[i = 1.0
    a[i] = 2.0
