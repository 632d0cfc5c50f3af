# error: 3:12: this is not a number; write it without the f
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    x[i] = 1.0f
