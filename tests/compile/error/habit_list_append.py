# error: 3:5: methods are not in the kernel language; the length is fixed; assign to an element
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    x.append(1)
