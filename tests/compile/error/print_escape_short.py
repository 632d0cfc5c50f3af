# error: 3:11: this escape sequence needs 2 digits
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    print("\x4")
