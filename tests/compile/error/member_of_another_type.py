# error: 3:17: 'in' takes two values of one type, but these are i32 and a float literal; write f32(n)
def k(i: Index, n: i32, a: Array[i32]):
    if n in (1, 2.5):
        a[i] = 1
