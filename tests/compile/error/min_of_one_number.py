# error: 3:12: min takes two numbers or more, or one vector
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    b[i] = min(n)
