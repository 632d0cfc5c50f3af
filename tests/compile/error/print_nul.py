# error: 3:11: the text of a kernel has no character 0
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    print("\0")
