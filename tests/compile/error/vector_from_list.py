# error: 3:14: vec3 takes its numbers one by one, as in vec3(x, y, z)
def k(i: Index, a: Array[f32], out: Array[f32]):
    v = vec3([1.0, 2.0, 3.0])
    out[i] = v.x
