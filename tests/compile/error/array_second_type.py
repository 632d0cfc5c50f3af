# error: 2:31: an Array has one type of elements, and behind it the number of axes, as in Array[f32, 2]
def k(i: Index, a: Array[f32, i32]):
    a[i] = 1.0
