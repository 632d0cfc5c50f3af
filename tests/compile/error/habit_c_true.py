# error: 3:9: there is no 'true' here; write True
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    t = true
