# error: 3:27: the length of a buffer is not known here, but an array has a fixed one; write range(16) or the like
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p = [2.0 * x for x in a]
    a[i] = p[0]
