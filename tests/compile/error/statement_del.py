# error: 4:5: 'del' is not in the kernel language; a variable needs no end
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = s
    del t
