# error: 3:19: the message of assert is a text in quotes
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    assert n > 0, n
