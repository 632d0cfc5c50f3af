# error: 3:9: '+' takes two values of one type, but these are vec3 and vec2
def k(i: Index, a: Array[f32], out: Array[f32]):
    v = vec3(1.0) + vec2(1.0)
    out[i] = v.x
