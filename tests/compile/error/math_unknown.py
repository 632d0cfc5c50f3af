# error: 3:12: there is no function 'hypotenuse' in the kernel language
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = math.hypotenuse(s)
