# error: 3:12: there is no function 'fsum' in the kernel language; write sum(v), which rounds each step, or a loop
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = math.fsum(v[i])
