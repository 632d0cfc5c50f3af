# error: 3:14: print of a kernel takes sep= and end=, not file=
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    print(n, file=n)
