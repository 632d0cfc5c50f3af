# error: 6:14: a tuple takes one index at a time, as in W[0][1]
W = ((1.0, 2.0), (3.0, 4.0))


def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = W[0, 1]
