# error: 3:14: a loop of a kernel goes over range(...) or an array, but this is i32
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    for x in n:
        a[i] = 1.0
