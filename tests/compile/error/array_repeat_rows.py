# error: 3:9: in Python all these elements would be one and the same list; write [[...] for _ in range(4)]
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    m = [[0.0] * 4] * 4
    a[i] = m[0][0]
