# error: 3:9: f-strings are not in the kernel language; print takes values beside texts, as in print('x is', x)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = f'{n}'
    a[i] = s
