# error: 3:23: the arguments of range have one type, but these are i32 and u32; write i32(u[0])
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    for j in range(n, u[0]):
        a[i] = 1.0
