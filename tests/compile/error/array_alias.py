# error: 4:9: in Python this would be a second name of the array 'p', which a kernel has not; write p.copy()
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p = [1, 2]
    q = p
    b[i] = q[0]
