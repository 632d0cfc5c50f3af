# error: 3:12: there is no function 'gamm'; did you mean gamma?
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    a[i] = math.gamm(s)
