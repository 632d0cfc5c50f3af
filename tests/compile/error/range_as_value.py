# error: 3:9: range(...) is for the head of a for loop only
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    t = range(3)
    b[i] = 1
