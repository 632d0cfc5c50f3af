# Natural alignment: 0, 16 (to 28), 28, 32.
def k(i: Index, n: i32, v: vec3, s: f32, p: vec2, a: Array[f32]):
    a[i] = v.x * s + f32(n) + p.y
