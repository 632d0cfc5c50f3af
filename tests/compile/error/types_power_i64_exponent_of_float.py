# error: 3:12: '**' takes two values of one type, but these are f32 and i64; write f32(n[i])
def k(i: Index, a: Array[f32], n: Array[i64]):
    a[i] = a[i] ** n[i]
