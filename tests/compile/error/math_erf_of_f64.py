# error: 3:9: devices have no erf of f64; compute it in f32, as in f64(erf(f32(f64(s))))
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    x = math.erf(f64(s))
