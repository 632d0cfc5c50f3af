# error: 6:5: there are two functions 'k'; the other one is in line 2
def k(i: Index, a: Array[f32]):
    a[i] = 1.0


def k(i: Index, a: Array[f32]):
    a[i] = 2.0
