# error: 3:5: 'with' is not in the kernel language; do it outside of the kernel
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    with s:
        pass
