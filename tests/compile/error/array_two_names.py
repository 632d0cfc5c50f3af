# error: 3:5: in Python these would be names of one array, which a kernel has not; assign to one name
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    p = q = [1, 2]
    b[i] = p[0] + q[0]
