# error: 3:17: a component is f32, but this is i32; write f32(n)
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    t = vec2(s, n)
    a[i] = t.x
