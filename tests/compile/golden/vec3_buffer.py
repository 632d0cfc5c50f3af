# An array of vec3 is packed: three scalars at a stride of 12 bytes.
def k(i: Index, v: Array[vec3]):
    v[i].y = v[i].x
    v[i] = v[i] * 2.0
