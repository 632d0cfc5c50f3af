# error: 6:12: an index that is not known while compiling needs a tuple whose items are alike
W = ((1.0, 2.0), (3.0,))


def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = W[i][0]
