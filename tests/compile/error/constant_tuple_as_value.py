# error: 6:12: 'W' is a tuple; index it, as in W[0], or assign it to several names
W = (1.0, 2.0)


def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = W
