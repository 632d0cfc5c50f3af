# error: 3:14: a for loop of a kernel goes over range(...)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    for x in a:
        a[i] = x
