# error: 3:20: range takes integers, but this is a float literal; write i32(0.0), or work the number out from an integer
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    for t in range(0.0, 1.0, 0.1):
        x[i] = t
