# error: 3:11: bytes are not in the kernel language; leave out the b
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    print(b"n")
