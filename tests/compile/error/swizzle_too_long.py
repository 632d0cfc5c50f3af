# error: 3:14: a swizzle has one to four components
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = v[i].xyzxy
    a[i] = s
