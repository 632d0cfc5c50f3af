# error: 3:12: a bvec3 is neither true nor false; write any(v[i] == v[i]) or all(v[i] == v[i])
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    assert v[i] == v[i]
