# error: 3:9: a shape is indexed or unpacked, as in a.shape[0]
def k(i: Index, a: Array[f32, 2], b: Array[i32], n: i32):
    s = a.shape
    b[i] = s[0]
