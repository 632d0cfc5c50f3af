# error: 3:5: 'try' is not in the kernel language; a kernel raises nothing; test with if
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    try:
        a[i] = s
    except ValueError:
        pass
