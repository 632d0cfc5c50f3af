# error: 3:12: devices have no atan2 of f64; compute it in f32, as in f64(atan2(f32(a[i]), ...))
def k(i: Index, a: Array[f64], v: Array[dvec2]):
    a[i] = atan2(a[i], v[i].x)
