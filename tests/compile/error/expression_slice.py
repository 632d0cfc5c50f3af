# error: 3:12: slices are not in the kernel language; index one element
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = a[0:2]
    a[i] = s
