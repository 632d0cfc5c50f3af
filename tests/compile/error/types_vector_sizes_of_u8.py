# error: 3:12: '+' takes two values of one type, but these are u8vec3 and u8vec2
def k(i: Index, v: Array[u8vec3], w: Array[u8vec2]):
    v[i] = v[i] + w[i]
