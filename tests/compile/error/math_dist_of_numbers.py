# error: 3:12: dist takes two vectors of floats, but these are f32
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = math.dist(s, s)
