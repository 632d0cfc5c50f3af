# error: 3:5: 'raise' is not in the kernel language; write an error to a buffer, or assert
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    raise ValueError
