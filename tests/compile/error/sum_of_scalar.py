# error: 3:16: sum takes a vector of numbers, but this is f32
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    a[i] = sum(s)
