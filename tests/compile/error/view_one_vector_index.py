# error: 3:7: 'a' has 2 axes, but this is 1 index; write a[i.y, i.x]
def k(i: Index2, a: Array[f32, 2]):
    a[i] = 1.0
