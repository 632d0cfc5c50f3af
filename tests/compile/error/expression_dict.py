# error: 3:9: dicts and sets are not in the kernel language
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = {1: 2}
    a[i] = s
