# error: 3:11: ':=' is not in the kernel language; assign on a line of its own
def k(i: Index, a: Array[f32], b: Array[i32], u: Array[u32], v: Array[vec3], n: i32, s: f32):
    if (t := n) > 0:
        a[i] = s
