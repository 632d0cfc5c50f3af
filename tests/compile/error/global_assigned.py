# error: 6:12: 'N' is assigned in this function, but what is outside of it is constant; write the result to a buffer
N = 3


def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    global N
    N = 4
