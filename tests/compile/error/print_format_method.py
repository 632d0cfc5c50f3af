# error: 3:11: print of a kernel takes values beside texts, as in print('x is', x)
def k(i: Index, a: Array[f32], out: Array[f32]):
    print('value {}'.format(a[i]))
    out[i] = 0.0
