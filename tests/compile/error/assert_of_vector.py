# error: 3:12: a bvec3 is neither true nor false; write any(v[i] == v[0]) or all(v[i] == v[0])
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    assert v[i] == v[0]
