# error: 6:12: '+' takes two values of one type, but these are i32 and u32; write i32(T[i])
T = (1, 3000000000)


def k(i: Index, a: Array[i32]):
    a[i] = a[i] + T[i]
