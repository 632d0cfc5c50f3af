# error: 4:12: '+' takes two values of one type, but these are f32 and i32; write f32(i)
def k(i: Index, a: Array[f32]):
    t = 1.0
    a[i] = t + i
