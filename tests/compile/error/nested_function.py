# error: 3:5: functions inside a kernel are not in the kernel language; define it outside and call it
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    def f(x):
        return x
    a[i] = s
