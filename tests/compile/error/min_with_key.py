# error: 3:29: min takes no names for its arguments
def k(i: Index, a: Array[f32], out: Array[f32]):
    out[i] = min(a[i], 1.0, key=abs)
