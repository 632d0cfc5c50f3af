# error: 3:12: ldexp takes as many exponents as numbers, but these are vec3 and ivec2
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    v[i] = ldexp(v[i], ivec2(1, 2))
