# error: 3:20: range takes no names for its arguments
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    for j in range(stop=3):
        b[i] += j
