# error: 3:9: 'x' is a buffer and has no 'shape'; len(a) is its length; pass other numbers as parameters
def k(i: Index, n: i32, x: Array[f32], a: Array[i32]):
    t = x.shape[0]
