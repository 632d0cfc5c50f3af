# error: -: there is no function 'missing' in the source; it has k
# kpc: --kernel=missing
def k(i: Index, a: Array[f32]):
    a[i] = 1.0
