# error: 3:26: the step of range is not 0
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    for j in range(0, 3, 0):
        a[i] = 1.0
