# error: 4:12: 'p' is an array and has no 'x'; index it first, as in p[i].x
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p = [v[i], v[i]]
    a[i] = p.x
