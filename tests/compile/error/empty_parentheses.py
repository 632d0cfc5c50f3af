# error: 3:12: a tuple cannot be in a variable; assign to several names, or write a list
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    b[i] = ()
