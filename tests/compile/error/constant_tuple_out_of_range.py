# error: 6:14: index 2 is out of range: W has 2 items
W = (1.0, 2.0)


def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = W[2]
