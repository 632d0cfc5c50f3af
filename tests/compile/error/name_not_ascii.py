# error: 3:18: names in a kernel are made of the letters a-z and A-Z, digits and '_' only
def k(i: Index, a: Array[f32]):
    a[i] = 1.0 + größe
