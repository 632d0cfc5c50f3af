# error: 3:9: an array of 1000000 elements is too large for a variable; the limits are 16384 elements and 65536 bytes
def k(i: Index, a: Array[f32], out: Array[f32]):
    t = [0.0] * 1000000
    out[i] = t[0]
