# error: 3:12: devices have no log of f64; compute it in f32, as in dvec3(log(vec3(v[i])))
def k(i: Index, v: Array[dvec3]):
    v[i] = log(v[i])
