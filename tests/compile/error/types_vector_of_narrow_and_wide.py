# error: 3:12: 'v[i]' is u8vec3, but this is ivec3; write u8vec3(v[i] + w[i])
def k(i: Index, v: Array[u8vec3], w: Array[ivec3]):
    v[i] = v[i] + w[i]
