# error: 4:11: in Python this would be a second name of the array 'm[1]', which a kernel has not; write m[1].copy()
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    m = [[1, 2], [3, 4]]
    row = m[1]
    b[i] = row[0]
