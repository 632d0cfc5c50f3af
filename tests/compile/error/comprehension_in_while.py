# error: 4:11: a comprehension is not for the test of a while loop; assign it to a name in the loop
def k(i: Index, a: Array[f32], b: Array[i32], v: Array[vec3], n: i32, s: f32):
    t = 0
    while [k + t for k in range(3)][1] < n:
        t += 1
    b[i] = t
