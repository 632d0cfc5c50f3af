# error: 3:12: 'a[i]' is i8, but this is f32; write i8(a[i] if i > 0 else x)
def k(i: Index, a: Array[i8], x: f32):
    a[i] = a[i] if i > 0 else x
